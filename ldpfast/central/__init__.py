"""Estimation with a trusted curator: large arrays in, one private number or vector out."""
