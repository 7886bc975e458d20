# Functions of both examples of paper rim; sourced after studies/frame.sh.
#
# Timing of the paper: slow subsystems receive the wrench of the fast ones at the end of the previous macro step (sequence jacobi, slow_wrench
# last), called "sampled" here. The default of Yoke: the mean over the current macro step of the fast ones.

sampled=(--set coupling.sequence=jacobi --set coupling.slow_wrench=last)
ways=(rim hold rim-sampled hold-sampled linear-sampled quadratic-sampled)

# way NAME MODEL STEP WAY ARGUMENTS...: one run with the hydraulics in steps of 0.2 ms.
way() {
    local name=$1 model=$2 step=$3 way=$4 timing=() extrapolation
    shift 4
    [ "$way" = "${way%-sampled}" ] || timing=("${sampled[@]}")
    extrapolation=${way%-sampled}
    extrapolation=${extrapolation/rim/interface-model}
    extrapolation=${extrapolation/hold/constant}
    simulate "$name" "models/$model/scenario.yaml" --set coupling.scheme=rim --set "time.step=$step" --set subsystems.hydraulics.max_substep=2e-4 \
        --set "coupling.extrapolation=$extrapolation" --set record.every=1 "${timing[@]}" "$@"
}

# error NAME REFERENCE END SPACING SIGNAL: root mean square of the difference at multiples of SPACING, (55), or where a run ended that
# did not reach END.
error() {
    made "$1.csv" || return 0
    awk -F, -v end="$3" -v grid="$4" -v signal="$5" '
        function key(t) { return sprintf("%d", t / grid + 0.5) }
        function near(t) { return t / grid - int(t / grid + 0.5) < 1e-6 && int(t / grid + 0.5) - t / grid < 1e-6 }
        FNR == 1 { file++; for (i = 1; i <= NF; i++) if (index($i, signal " ") == 1) c = i; next }
        near($1) && file == 1 { r[key($1)] = $c }
        near($1) && file == 2 && key($1) in r { count++; d = $c - r[key($1)]; sum += d * d; a = $c - $c; if (!(a == 0)) bad = 1 }
        file == 2 { last = $1 }
        END { if (last < end - grid || bad) printf "ends at %.2f s", last; else printf "%.3g", sqrt(sum / count) }' "$out/$2.csv" "$out/$1.csv"
}

# state_errors PREFIX REFERENCE END SPACING ACTUATOR STEP...: numbers of figure 13 for every way and step.
state_errors() {
    local prefix=$1 reference=$2 end=$3 spacing=$4 actuator=$5 step name quantity
    shift 5
    for step in "$@"; do
        for name in "${ways[@]}"; do
            for quantity in position velocity; do
                # Runs that exceed 1 m or 1 m/s, or that ended early, are chaotic: only the order of magnitude is stated.
                number "$quantity-$name-$step" "$(error "$prefix$name-$step" "$reference" "$end" "$spacing" "$actuator.$quantity")" \
                    "$(case $name in rim | rim-sampled | hold) echo 5% ;; *) echo 30% ;; esac)"
            done
        done
    done
}

# curves COLUMN UNIT-FACTOR NAME:LABEL...: what gnuplot is to plot of several runs.
curves() {
    local column=$1 factor=$2 item text=
    shift 2
    for item in "$@"; do
        thin "${item%%:*}"
        text+="${text:+, }'$out/${item%%:*}.thin.csv' using 1:($factor*\$$column) with lines title '${item#*:}'"
    done
    echo "$text"
}

# error_picture FIGURE TITLE PREFIX REFERENCE END SPACING ACTUATOR STEP...: figure 13, runs that ended are left out.
error_picture() {
    local figure=$1 title=$2 prefix=$3 reference=$4 end=$5 spacing=$6 actuator=$7 step name quantity value panels='' plots
    shift 7
    for quantity in position velocity; do
        plots=
        for name in rim rim-sampled hold-sampled linear-sampled; do
            : >"$out/errors-$quantity-$name"
            for step in "$@"; do
                value=$(error "$prefix$name-$step" "$reference" "$end" "$spacing" "$actuator.$quantity")
                case $value in ends*) ;; *) echo "$(calculate "1000 * $step"),$value" >>"$out/errors-$quantity-$name" ;; esac
            done
            plots+="${plots:+, }'$out/errors-$quantity-$name' using 1:2 with linespoints pt 7 ps 0.6 title '$(label "$name")'"
        done
        panels+="set title '$([ $quantity = position ] && echo "displacement" || echo "velocity")'; set ylabel 'rms error ($([ $quantity = position ] && echo m || echo m/s))'
plot $plots
"
    done
    picture "$figure" <<PLOT
set multiplot layout 1,2 title "$title"
set xlabel 'macro step (ms)'; set logscale y; set format y '10^{%T}'; set xrange [0:21]
$panels
PLOT
}

label() {
    case $1 in
    rim) echo "model, mean" ;;
    rim-sampled) echo "model" ;;
    hold-sampled) echo "hold" ;;
    linear-sampled) echo "linear" ;;
    *) echo "$1" ;;
    esac
}

# cost NAME SUBSYSTEM: microseconds per macro step, from the summary of a run.
cost() {
    awk -v wanted="$2" '$1 == "mechanism" && !steps { steps = $2; m = $3 } $1 == "interface" && $2 == "model" { r = $4 } $1 == "hydraulics" && !h { h = $3 }
        END { v = wanted == "mechanism" ? m : wanted == "model" ? r : h; printf "%.0f", 1e6 * v / steps }' "$out/$1.txt"
}

# cost_picture FIGURE TITLE STEP...: figure 14 of one example.
cost_picture() {
    local figure=$1 title=$2 step
    shift 2
    for step in "$@"; do echo "$(calculate "1000 * $step") ms,$(cost "cost-$step" mechanism),$(cost "cost-$step" model),$(cost "cost-$step" hydraulics)"; done >"$out/cost.csv"
    picture "$figure" 320 <<PLOT
set title "$title"
set style data histograms; set style histogram rowstacked; set style fill solid 0.8 border; set boxwidth 0.6
set ylabel 'time per macro step (µs)'; set xlabel 'macro step'
plot '$out/cost.csv' using 2:xtic(1) title 'mechanism', '' using 3 title 'interface model', '' using 4 title 'hydraulics'
PLOT
}
