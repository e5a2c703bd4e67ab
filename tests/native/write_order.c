/* Loaded before the C library of a server: writes a line to the file LDPFAST_ORDER for each file that is forced to the disk, and for
 * each answer that is sent. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void note(const char *what, const char *name)
{
    char line[4200];
    const char *path = getenv("LDPFAST_ORDER");
    if (path == NULL)
        return;
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    const int length = snprintf(line, sizeof line, "%s %s\n", what, name);
    NEXT(write)(file, line, (size_t)length);
    close(file);
}

static void note_file(int file)
{
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = 0;
    note("disk", name);
}

static void note_answer(const void *bytes, size_t size)
{
    if (size > 8 && memcmp(bytes, "HTTP/1.1", 8) == 0)
        note("answer", "");
}

int fsync(int file)
{
    const int result = NEXT(fsync)(file);
    note_file(file);
    return result;
}

int fdatasync(int file)
{
    const int result = NEXT(fdatasync)(file);
    note_file(file);
    return result;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    note_answer(bytes, size);
    return NEXT(write)(file, bytes, size);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    if (count > 0)
        note_answer(parts[0].iov_base, parts[0].iov_len);
    return NEXT(writev)(file, parts, count);
}

ssize_t send(int file, const void *bytes, size_t size, int flags)
{
    note_answer(bytes, size);
    return NEXT(send)(file, bytes, size, flags);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    if (message->msg_iovlen > 0)
        note_answer(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
    return NEXT(sendmsg)(file, message, flags);
}
