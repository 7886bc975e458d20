/* All cases: one table per module. */
#include "bench.h"

const bench_case *const bench_tables[] = {
    bench_access, bench_base,   bench_contact,   bench_coulomb,   bench_coupling,
    bench_fmu,    bench_index1, bench_nonsmooth, bench_physics,   bench_record,
    bench_rim,    bench_scale,  bench_smooth,    bench_transport, NULL,
};
