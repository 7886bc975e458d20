# What the studies share; sourced by studies/*/run with the study's name as argument, from the top of the source tree.
#
# Sets: out (folder of the results), report (the table of numbers, Markdown), yoke (the program).

study=$1
out=${2:-results/studies/$study}
report=$out/results.md
yoke=build/release/yoke
[ -x "$yoke" ] || scripts/build
mkdir -p "$out"

# The grid of the papers' stability plots.
grid=(--map rho-inf=0:1:51 --map omega-h=0.2:10:50)

# maps_begin: the head of the table that `map` fills.
maps_begin() {
    cat <<'TABLE'
Stable fraction of the grid rho_inf = 0..1 (51 points) by omega01 h = 0.2..10 (50 points).
"Checked" are the fractions of an independent evaluation of the paper's recurrence equations, where there is one.

| figure | share | checked | arguments of `yoke stability` |
|---|---|---|---|
TABLE
}

# map NAME TITLE CHECKED ARGUMENTS...: one stability map as NAME.csv, NAME.svg and NAME.png; its share goes into the report.
map() {
    local name=$1 title=$2 checked=$3 share
    shift 3
    share=$("$yoke" stability "$@" "${grid[@]}" -o "$out/$name.csv" --plot "$out/$name" | sed -n 's/^stable fraction //p')
    printf "| %s | %s | %s | %s |\n" "$title" "$share" "$checked" "$*" >>"$report"
}

# radius ARGUMENTS...: the spectral radius at a point.
radius() {
    "$yoke" stability "$@" | sed -n 's/^spectral radius //p'
}
