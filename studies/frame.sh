# Functions of all parts of the studies; sourced by studies/PAPER/PART from the top of the source tree.
#
# A part has two functions: `runs` names the computations, each with `job` or `quick`, and `results` turns their files into
# numbers and pictures. Its last line is `study "$@"`. scripts/studies runs the computations of all parts side by side.
#
# Variables for a part: yoke (the program), out (the folder of its files), all (whether the long computations were made too).

yoke=${YOKE:-build/release/yoke}
part=${0#*studies/}
out=${STUDIES_OUT:-results/studies}/$part
all=${STUDIES_ALL:-yes}
wanted=

# study list | run JOB | results: what scripts/studies asks of a part. Without an argument: everything, by scripts/studies.
study() {
    mkdir -p "$out"
    case ${1:-} in
    list | run)
        mode=$1
        wanted=${2:-}
        runs
        ;;
    results)
        : >"$out/results.txt"
        results
        ;;
    *) exec scripts/studies "$part" ;;
    esac
}

# job SECONDS NAME COMMAND...: a computation that takes about so many seconds of one core; it has no other as its condition.
job() {
    [ "$all" = yes ] || return 0
    quick "$@"
}

# quick SECONDS NAME COMMAND...: the same for a short computation, which `scripts/studies --quick` also runs.
quick() {
    local seconds=$1 name=$2
    shift 2
    if [ "$mode" = list ]; then
        echo "$seconds $part $name"
    elif [ "$name" = "$wanted" ]; then
        "$@"
    fi
}

# simulate NAME SCENARIO ARGUMENTS...: a run with its record in NAME.csv and its summary in NAME.txt. A run that fails or that
# the program does not trust can be a result: the summary tells.
simulate() {
    local name=$1
    shift
    "$yoke" run "$@" -o "$out/$name.csv" >"$out/$name.txt" 2>&1 || true
    [ -s "$out/$name.csv" ] || {
        cat "$out/$name.txt" >&2
        return 1
    }
}

# bed NAME SUBSYSTEM RADIUS SCENARIO ARGUMENTS...: prints the file of the spheres of a subsystem at the start of a scenario. They
# settle once for all computations that start from them; the runs are bit-identical.
bed() {
    local name=$1 subsystem=$2 radius=$3 file=$out/../beds/$1.csv
    shift 3
    mkdir -p "$out/../beds"
    (
        flock 9
        [ "$file" -nt "$yoke" ] || {
            "$yoke" run "$@" --quiet --set "record.channels=[$subsystem.particle_positions]" --set time.end=1e-6 --set time.step=1e-6 \
                --set record.every=1 -o "$file.record.csv" >/dev/null 2>&1 || true
            awk -F, -v r="$radius" 'NR == 2 { for (i = 2; i < NF; i += 3) print $i "," $(i + 1) "," $(i + 2) "," r }' \
                "$file.record.csv" >"$file.new"
            mv "$file.new" "$file"
        }
    ) 9>"$out/../beds/$name.lock" >&2
    realpath "$file"
}

# made NAME...: whether these records are there; in the quick mode many are not.
made() {
    local name
    for name in "$@"; do [ -s "$out/$name" ] || return 1; done
}

# number NAME VALUE UNCERTAINTY: one result. The uncertainty is absolute (0.001), relative (2%), `exact`, or `-` for what
# depends on the machine and is not compared. Without a value there is nothing to state.
number() {
    [ -z "$2" ] || printf '%s %s %s\n' "$1" "${2// /_}" "$3" >>"$out/results.txt"
}

# Records ------------------------------------------------------------------------------------------------------------

# measure KIND NAME SIGNAL [FROM [TO [SCALE]]]: of a record; KIND is rms, deviation (from the mean), peak, min, max, final. Five digits,
# or as many as `digits` says.
measure() {
    [ -s "$out/$2.csv" ] || return 0
    awk -F, -v kind="$1" -v signal="$3" -v from="${4:--1}" -v to="${5:-1e9}" -v scale="${6:-1}" -v digits="${digits:-5}" '
        NR == 1 { for (i = 1; i <= NF; i++) if (index($i " ", signal " ") == 1) c = i
                  if (!c) { print "no signal " signal > "/dev/stderr"; exit 1 } next }
        $1 >= from && $1 <= to { x = $c; n++; s += x; q += x * x; a = x < 0 ? -x : x; if (a > p) p = a
                  if (n == 1 || x < least) least = x; if (n == 1 || x > most) most = x; last = x }
        END { if (!n) exit
              if (kind == "rms") v = sqrt(q / n); else if (kind == "deviation") v = sqrt(q / n - (s / n)^2)
              else if (kind == "peak") v = p; else if (kind == "min") v = least; else if (kind == "max") v = most; else v = last
              printf "%." digits "g", scale * v }' "$out/$2.csv"
}

# signal NAME SIGNAL: time and one signal of a record, separated by a blank.
signal() {
    made "$1.csv" || return 0
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if (index($i " ", name " ") == 1) c = i; next } { print $1, $c }' \
        "$out/$1.csv"
}

# said NAME PATTERN: the first thing in a summary that a pattern of sed captures.
said() {
    [ ! -s "$out/$1.txt" ] || sed -n "s/.*$2.*/\\1/p" "$out/$1.txt" | head -n 1
}

# calls NAME SUBSYSTEM: how often a subsystem was called in a run; `part_of NAME SUBSYSTEM` is its part of the time, in per cent.
calls() {
    [ ! -s "$out/$1.txt" ] || awk -v name="$2" '$1 == name { print $3; exit }' "$out/$1.txt"
}
part_of() {
    [ ! -s "$out/$1.txt" ] || awk -v name="$2" '$1 == name { print $5; exit }' "$out/$1.txt"
}

# processor JOB: seconds of the processor that a job took.
processor() {
    [ ! -s "$out/.$1" ] || cat "$out/.$1"
}

# calculate EXPRESSION: by awk, five digits; nothing where a number is missing in it. Operators have blanks on both sides, signs none behind,
# so that "0.32 /  - 1" is seen to lack a number and is not taken for a division by -1.
calculate() {
    local missing='(^|[-+*/(]) *([-+*/] |[*/)]|$)'
    [[ ! $1 =~ $missing ]] || return 0
    awk "BEGIN { printf \"%.5g\", $1 }" 2>/dev/null || true
}

# Stability of two masses ----------------------------------------------------------------------------------------------

# The grid of the papers' plots.
grid=(--map rho-inf=0:1:51 --map omega-h=0.2:10:50)

# map NAME ARGUMENTS...: a stability map as NAME.csv, its share of stable points in NAME.share.
map() {
    local name=$1
    shift
    "$yoke" stability "$@" "${grid[@]}" --jobs 1 -o "$out/$name.csv" | sed -n 's/^stable fraction //p' >"$out/$name.share"
}

# share NAME: that of a map.
share() {
    [ ! -s "$out/$1.share" ] || cat "$out/$1.share"
}

# radius ARGUMENTS...: the spectral radius at a point.
radius() {
    "$yoke" stability "$@" | sed -n 's/^spectral radius //p'
}

# columns MAP HALF-WIDTH HALF-HEIGHT: the stable points of a map as boxes for gnuplot in MAP.columns, neighbours in a column as one.
columns() {
    awk -F, -v dx="$2" -v dy="$3" 'NR == 1 { next }
        function flush() { if (open) print x, (first + last) / 2, x - dx, x + dx, first - dy, last + dy; open = 0 }
        NR == 2 || $1 != x { flush(); x = $1 }
        $4 == 1 { if (!open) first = $2; open = 1; last = $2 }
        $4 != 1 { flush() }
        END { flush() }' "$out/$1.csv" >"$out/$1.columns"
}

# maps NAME TITLE ITEM...: pictures of maps side by side; an item is MAP:TITLE. Stable points are filled, as columns.
maps() {
    local name=$1 title=$2 item map commands=
    shift 2
    for item in "$@"; do
        map=${item%%:*}
        columns "$map" 0.01 0.1
        commands+="set title '${item#*:}'
plot '$out/$map.columns' using 1:2:3:4:5:6 with boxxyerror lc rgb '#4477aa' fs solid noborder notitle
"
    done
    picture "$name" $((260 * (($# + 1) / 2) + 40)) <<PLOT
set datafile separator whitespace
set multiplot layout $((($# + 1) / 2)),$(($# > 1 ? 2 : 1)) title "$title"
set xrange [-0.01:1.01]; set yrange [0:10.2]; unset key
set xlabel 'asymptotic spectral radius ρ_{∞}'; set ylabel 'ω_{01} h'
$commands
PLOT
}

# Pictures -------------------------------------------------------------------------------------------------------------

# picture NAME [HEIGHT] <COMMANDS: commands of gnuplot drawn as NAME.svg and NAME.pdf, 800 points wide. Records are CSV. A picture is
# drawn only where all of its files are there.
picture() {
    local height=${2:-380} commands file
    commands=$(cat)
    while read -r file; do
        [ -s "$file" ] || [ "${file: -1}" = - ] || return 0 # one that ends in - is the beginning of several names
    done < <(grep -oE "'$out/[^' ]+'" <<<"$commands" | tr -d "'")
    gnuplot <<PLOT 2>"$out/$1.gnuplot.log" || { cat "$out/$1.gnuplot.log" >&2; return 1; }
set terminal svg size 800,$height font "sans-serif,13" dynamic enhanced
set output "$out/$1.svg"
$style
$commands
unset multiplot
set output
reset
set terminal pdfcairo size $(awk -v h="$height" 'BEGIN { printf "%.2fin,%.2fin", 800 / 96, h / 96 }') font "sans-serif,11" enhanced
set output "$out/$1.pdf"
$style
$commands
unset multiplot
PLOT
    squeeze "$out/$1.svg"
}

# thin NAME: a record as NAME.thin.csv with at most 400 rows; more are not seen in a picture.
thin() {
    local rows
    rows=$(wc -l <"$out/$1.csv")
    awk -v n="$(((rows + 399) / 400))" 'NR > 1 && (NR - 2) % n == 0' "$out/$1.csv" >"$out/$1.thin.csv"
}

# squeeze FILE: a picture without gnuplot's name and version, empty groups, and attributes that repeat those of the whole.
squeeze() {
    local usual='fill="none" color="black" stroke="currentColor" stroke-width="1.00" stroke-linecap="butt" stroke-linejoin="miter"'
    sed -i -E -e '/<desc>/d; /^<title>Gnuplot/d; s/^[ \t]*<g id="gnuplot_plot_[^>]*><title>[^<]*<.title>/<g>/' -e "s/<g $usual>/<g>/" -e "s/^<svg/<svg $usual/" \
        -e 's/ font-family="sans-serif"//g; s/<tspan >/<tspan>/g' -e "s/ class=\"gridline\" / /" -e 's/rgb\( */rgb(/g; s/^[ \t]+//; s/(<rect x="0" [^>]*fill="none")/\1 stroke="none"/' \
        -e "s/^<svg/<svg xml:space=\"preserve\" font-family=\"sans-serif\"/" "$1"
    # A tenth of a point is enough for curves.
    sed -i -E "/ d='M/s/([0-9]\.[0-9])[0-9]/\1/g" "$1"
    awk '$0 == "<g>" { if (held) print "<g>"; held = 1; next } held && $0 == "</g>" { held = 0; next }
        held { print "<g>"; held = 0 } $0 != "" { print }' "$1" >"$1.squeezed"
    mv "$1.squeezed" "$1"
}

# orders FIGURE TITLE TABLE K2 K3: errors of position and velocity of both degrees, with lines of the orders that the paper states.
orders() {
    local column panels=
    for column in 3 5; do
        panels+="set title '$([ $column = 3 ] && echo position || echo velocity)'; set ylabel 'error ($([ $column = 3 ] && echo m || echo m/s))'
plot '$out/$3.csv' using 2:(\$1==2 ? \$$column : NaN) every ::1 with linespoints pt 7 ps 0.6 title 'k = 2', '' using 2:(\$1==3 ? \$$column : NaN) every ::1 with linespoints pt 5 ps 0.6 title 'k = 3', \
  $(awk -F, -v c=$column '$1 == 2 { print $c / 3 "*(x/" $2 ")"; exit }' "$out/$3.csv")**$4 with lines lt 7 dt 3 title 'H^$4', $(awk -F, -v c=$column '$1 == 3 { print $c / 3 "*(x/" $2 ")"; exit }' "$out/$3.csv")**$5 with lines lt 7 dt 2 title 'H^$5'
"
    done
    picture "$1" 400 <<PLOT
set multiplot layout 1,2 title "$2"
set logscale xy; set format '10^{%T}'; set xlabel 'H (s)'
$panels
PLOT
}

# The look of all pictures: a light grid, legends below the curves' title in one or two lines of small type.
style="set datafile separator ','
set encoding utf8
set grid lc rgb '#dddddd' lt 1
set border lc rgb '#555555'
set tics textcolor rgb '#333333'
set key outside bottom center horizontal samplen 2 spacing 0.9 height 0.8 font ',11'
set title offset 0,-0.5
set xlabel offset 0,0.6
set ylabel offset 0.8,0
set linetype 1 lc rgb '#4477aa' lw 1.4
set linetype 2 lc rgb '#ee6677' lw 1.4
set linetype 3 lc rgb '#228833' lw 1.4
set linetype 4 lc rgb '#aa3377' lw 1.4
set linetype 5 lc rgb '#ccbb44' lw 1.4
set linetype 6 lc rgb '#66ccee' lw 1.4
set linetype 7 lc rgb '#333333' lw 1.4
set linetype cycle 7"
