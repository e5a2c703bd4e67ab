"""A complex sample by formulas, and what the package survey 4.1.1 of R estimates from it (R 4.2).

The figures are those of these lines, with options(digits = 12)::

    i <- 0:359; h <- i %/% 90; c <- i %/% 9; x <- ((i*7) %% 24)/8 - 1; sex <- as.integer((i*5) %% 3 == 0)
    y <- as.integer((i*i*3 + (i %/% 9)*5) %% 11 < 4 + h)
    w <- 1 + ((i*13) %% 17)/10 + h; N <- c(20,30,12,60)[h+1]; P <- c(200,300,120,600)[h+1]
    d <- data.frame(h, c, x, y, sex, w, N, P)
    r <- sapply(0:35, function(r) w*(0.5 + ((c*c*(r+2) + c*(r*r+5) + 11*r) %% 37)/37))
    j <- sapply(0:39, function(k) w*ifelse(c == k, 0, 40/39))
    n <- sapply(0:39, function(k) w*ifelse(c == k, 0, ifelse(h == k %/% 10, 10/9, 1)))
    strata <- svydesign(ids=~c, strata=~h, weights=~w, data=d)
    fpc <- svydesign(ids=~c, strata=~h, weights=~w, fpc=~N, data=d)
    people <- svydesign(ids=~1, strata=~h, weights=~w, fpc=~P, data=d)
    towns <- svydesign(ids=~c, fpc=~rep(70, 360), data=d)
    bootstrap <- svrepdesign(weights=w, repweights=r, type="bootstrap", data=d)
    mse <- svrepdesign(weights=w, repweights=r, type="bootstrap", mse=TRUE, data=d)
    brr <- svrepdesign(weights=w, repweights=r, type="BRR", data=d)
    fay <- svrepdesign(weights=w, repweights=r, type="Fay", rho=0.3, data=d)
    jk1 <- svrepdesign(weights=w, repweights=j, type="JK1", scale=39/40, data=d)
    jkn <- svrepdesign(weights=w, repweights=n, type="JKn", rscales=rep(9/10, 40), data=d)

    m <- svymean(~y, s, deff="replace"); c(coef(m), SE(m), deff(m)); degf(s)      # mean, freedom
    confint(svyciprop(~y, s, method="beta"))                                      # limits
    b <- svyby(~y, ~sex, s, svymean, covmat=TRUE); c(coef(b), SE(b))              # by
    svycontrast(b, quote(`1`/`0`)); svycontrast(b, quote(`1`-`0`))                # ratio, difference
    q <- svyglm(y~x+sex, design=s, family=quasibinomial()); sqrt(diag(vcov(q)))   # logit
    q <- svyglm(y~x+sex, design=s); sqrt(diag(vcov(q)))                           # linear
    svyby(~y, ~h+sex, fpc, svymean)                                               # BY_TWO
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpfast import designs

ROWS = np.arange(360)
STRATUM = ROWS // 90
TOWN = ROWS // 9
AGE = (ROWS * 7 % 24) / 8 - 1
SEX = (ROWS * 5 % 3 == 0).astype(int)
ANSWER = ((ROWS**2 * 3 + TOWN * 5) % 11 < 4 + STRATUM).astype(int)
WEIGHT = 1 + (ROWS * 13 % 17) / 10 + STRATUM
TOWNS = np.array([20, 30, 12, 60])[STRATUM]
PEOPLE = 10 * TOWNS
DIRECT = designs.forced_response(0, 0)

_NUMBERS = np.arange(36)
_CLUSTER = TOWN[:, np.newaxis]
_FACTORS = 0.5 + (_CLUSTER**2 * (_NUMBERS + 2) + _CLUSTER * (_NUMBERS**2 + 5) + 11 * _NUMBERS) % 37 / 37
REPLICATES = WEIGHT[:, np.newaxis] * _FACTORS
_OUT = np.arange(40) == _CLUSTER
_JK1 = WEIGHT[:, np.newaxis] * np.where(_OUT, 0, 40 / 39)
_JKN = WEIGHT[:, np.newaxis] * np.where(_OUT, 0, np.where(STRATUM[:, np.newaxis] == np.arange(40) // 10, 10 / 9, 1))


def _replicated(weights: Any, kind: str, **options: Any) -> dict[str, Any]:
    return {"weights": WEIGHT, "replicate_weights": designs.ReplicateWeights(weights, kind, **options)}


_DRAWN = {"weights": WEIGHT, "clusters": TOWN, "strata": STRATUM}
SAMPLES: dict[str, dict[str, Any]] = {
    "strata": _DRAWN,
    "fpc": {**_DRAWN, "fpc": TOWNS},
    "people": {"weights": WEIGHT, "strata": STRATUM, "fpc": PEOPLE},
    "towns": {"clusters": TOWN, "fpc": np.full(360, 70)},
    "bootstrap": _replicated(REPLICATES, "bootstrap"),
    "mse": _replicated(REPLICATES, "bootstrap", mse=True),
    "brr": _replicated(REPLICATES, "brr"),
    "fay": _replicated(REPLICATES, "brr", rho=0.3),
    "jk1": _replicated(_JK1, "jackknife"),
    "jkn": _replicated(_JKN, "jackknife", rscales=np.full(40, 0.9)),
}
REPLICATED = ("bootstrap", "mse", "brr", "fay", "jk1", "jkn")

FIGURES: dict[str, dict[str, tuple[float, ...]]] = {
    "strata": {
        "freedom": (36.0,),
        "mean": (0.5526182859, 0.0272339191, 1.0769889665),
        "limits": (0.4956997761, 0.6085329214),
        "by": (0.59033560434, 0.47697368421, 0.02926556783, 0.05220403505),
        "ratio": (0.80797038279, 0.09400121599),
        "difference": (-0.11336192013, 0.05768904154),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.14587154127, 0.15450417687, 0.24469702105),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.035550136214, 0.037748152227, 0.06069627735),
    },
    "fpc": {
        "freedom": (36.0,),
        "mean": (0.55261828591, 0.02062276854, 0.61756816836),
        "limits": (0.5098301886, 0.5948346259),
        "by": (0.59033560434, 0.47697368421, 0.02216447982, 0.03750486665),
        "ratio": (0.80797038279, 0.06662667543),
        "difference": (-0.11336192013, 0.04092334002),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.105613412, 0.11911378504, 0.17239815046),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.025732638831, 0.029090075126, 0.042760431312),
    },
    "people": {
        "freedom": (356.0,),
        "mean": (0.55261828591, 0.02179021847, 0.68946803623),
        "limits": (0.508752294, 0.5958837188),
        "by": (0.59033560434, 0.47697368421, 0.02662817276, 0.03846064208),
        "ratio": (0.8079703828, 0.0751433398),
        "difference": (-0.11336192013, 0.04711761127),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.12117121019, 0.10621547497, 0.19146167458),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.029467336763, 0.02593839843, 0.047289665031),
    },
    "towns": {
        "freedom": (39.0,),
        "mean": (0.51944444444, 0.01973015284, 0.55985123343),
        "limits": (0.4788341685, 0.5598644393),
        "by": (0.5625, 0.43333333333, 0.01980040052, 0.0342368394),
        "ratio": (0.77037037037, 0.05925336332),
        "difference": (-0.12916666667, 0.03438973904),
        "logit": (0.2389545322, 0.02477673774, -0.51499145927, 0.08777074182, 0.07972322917, 0.14469554288),
        "linear": (0.559453719977, 0.006092560047, -0.128024311658, 0.021628288679, 0.019609844478, 0.035581230163),
    },
    "bootstrap": {
        "freedom": (35.0,),
        "mean": (0.552618285907, 0.008575908678, 0.106795084421),
        "limits": (0.535066381, 0.5700725151),
        "by": (0.59033560434, 0.476973684211, 0.007403166968, 0.017750327171),
        "ratio": (0.80797038279, 0.02928281194),
        "difference": (-0.11336192013, 0.01747836485),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.03775444205, 0.04026818566, 0.07388389209),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.009196668639, 0.009828345081, 0.018381625867),
    },
    "brr": {
        "freedom": (35.0,),
        "mean": (0.552618285907, 0.008455959991, 0.103828554298),
        "limits": (0.5353145539, 0.56982707),
        "by": (0.59033560434, 0.476973684211, 0.007299621072, 0.01750205862),
        "ratio": (0.80797038279, 0.02887324196),
        "difference": (-0.11336192013, 0.01723390015),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.03722638189, 0.03970496651, 0.07285050005),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.009068037568, 0.009690878939, 0.018124527528),
    },
    "fay": {
        "freedom": (35.0,),
        "mean": (0.55261828591, 0.01207994284, 0.21189500877),
        "limits": (0.5277846184, 0.5772573034),
        "by": (0.59033560434, 0.47697368421, 0.0104280301, 0.02500294089),
        "ratio": (0.80797038279, 0.04124748851),
        "difference": (-0.11336192013, 0.02461985736),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.05318054556, 0.05672138073, 0.10407214292),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.012954339382, 0.01384411277, 0.025892182183),
    },
    "mse": {
        "freedom": (35.0,),
        "mean": (0.55261828591, 0.00861494737, 0.10776958866),
        "limits": (0.5349855944, 0.5701524055),
        "by": (0.59033560434, 0.476973684211, 0.007415493912, 0.018047101026),
        "ratio": (0.80797038279, 0.02991269431),
        "difference": (-0.11336192013, 0.01786297216),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.03776677938, 0.04030663435, 0.07535270562),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.009200768654, 0.009837773644, 0.018760349303),
    },
    "jk1": {
        "freedom": (39.0,),
        "mean": (0.55261828591, 0.02982821015, 1.29194895949),
        "limits": (0.4902800451, 0.6137558313),
        "by": (0.59033560434, 0.47697368421, 0.03048568602, 0.05423645004),
        "ratio": (0.80797038279, 0.09288543018),
        "difference": (-0.11336192013, 0.05657444738),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.14727869397, 0.15498824106, 0.24409401308),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.035854982672, 0.037862401385, 0.060525302974),
    },
    "jkn": {
        "freedom": (36.0,),
        "mean": (0.55261828591, 0.02723181374, 1.07682245614),
        "limits": (0.4957043035, 0.6085285512),
        "by": (0.59033560434, 0.47697368421, 0.02925950684, 0.05223125396),
        "ratio": (0.8079703828, 0.0940504626),
        "difference": (-0.11336192013, 0.05771720919),
        "logit": (0.34533444594, 0.04011107753, -0.44958302601, 0.14770062419, 0.15708399781, 0.24889527089),
        "linear": (0.585418736596, 0.009799118366, -0.111389189068, 0.035946844368, 0.038349207072, 0.061675044434),
    },
}
BY_TWO = {  # value and standard error
    (0, 0): (0.43510737628, 0.04025166570),
    (1, 0): (0.52271386431, 0.04979687549),
    (2, 0): (0.64682713348, 0.02281377725),
    (3, 0): (0.64313043478, 0.04775820582),
    (0, 1): (0.24767225326, 0.06504181118),
    (1, 1): (0.35096153846, 0.08529474604),
    (2, 1): (0.52010489510, 0.04672841821),
    (3, 1): (0.60111188325, 0.07828985335),
}
