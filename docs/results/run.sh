#!/usr/bin/env bash
# All experiments of the paper by all its methods, into results.csv; printed formulas and other variants into
# variants.csv; then the figures and the comparison. Usage: docs/results/run.sh [JOBS]. Stopped, it goes on where it was.
# Needs pyknnmi with matplotlib, and all of plugins/ but the example.
set -euo pipefail
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # one core a job

experiments() {
  local out=$1 start=$SECONDS
  shift
  pyknnmi experiment --jobs "$jobs" --out "${out%.csv}.db" --csv "$out" "$@"
  printf '%s: %d s\n' "${*: -1}" $((SECONDS - start))
}

jobs=${1:-2}
# knn-cmi makes all permutations, as the paper's program did
stored=('small-network-*' large-network 'random-nonparanormal-*') # with kernel tests in the authors' results

experiments results.csv '*' --methods "knnMI_AND=iamb+knn-cmi(stop=never); \
knnMI_AND_k5=iamb(exhaustive=true)+knn-cmi(k=5,stop=never); knnMI_OR=iamb(rule=or)+knn-cmi(stop=never); \
fisherZ_AND=iamb+fisher-z; mb_StARS=nonparanormal+neighbourhood(select=stars,rule=or); \
mb_auto=nonparanormal+neighbourhood(select=auto,formula=code); glasso_StARS=nonparanormal+glasso(select=stars)"
kcit="iamb(exhaustive=true)+kci(bandwidth=joint,small_sample=false)"
experiments results.csv "${stored[@]}" --sizes 125,250,500 --methods "KCIT_AND=$kcit"
experiments results.csv 'small-network-*' --sizes 1000 --methods "KCIT_AND=$kcit"
experiments results.csv "${stored[@]}" --methods \
  "RCIT_AND=iamb(exhaustive=true)+rcit(conditioning_features=25,small_sample=false)"

experiments variants.csv "${stored[@]}" --methods "knnMI_OR_k5=iamb(rule=or,exhaustive=true)+knn-cmi(k=5,stop=never)"
experiments variants.csv 'small-network-*' --sizes 125,250,500,1000 --methods \
  "knnMI_AND_exhaustive=iamb(exhaustive=true)+knn-cmi(stop=never)"
experiments variants.csv 'random-nonparanormal-*' --methods "knnMI_AND_npn=nonparanormal+iamb+knn-cmi(stop=never)"
experiments variants.csv '*' --methods "mb_auto_printed=nonparanormal+neighbourhood(select=auto); \
mb_StARS_AND=nonparanormal+neighbourhood(select=stars)"
experiments variants.csv "${stored[@]}" --sizes 125,250,500 --methods "KCIT_AND_default=iamb+kci"
experiments variants.csv 'small-network-*' --sizes 1000 --methods "KCIT_AND_default=iamb+kci"
experiments variants.csv "${stored[@]}" --methods "RCIT_AND_default=iamb+rcit"

pyknnmi figures results.csv --out figures
python paper_comparison.py
