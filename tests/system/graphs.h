/* Scenarios whose parts are joined in a chain, a ring, a tree, a star or a grid, for tests and
 * benchmarks of schemes with many subsystems. */
#ifndef YK_TESTS_SYSTEM_GRAPHS_H
#define YK_TESTS_SYSTEM_GRAPHS_H

typedef enum graph_kind {
    GRAPH_CHAIN, /* Rods along +x, hinged about z, the first one hinged to the ground. */
    GRAPH_RING,  /* Rods around a regular polygon with spherical joints, one fixed to the ground. */
    GRAPH_TREE,  /* Rods that carry two rods each, with spherical joints. */
    GRAPH_STAR,  /* Rods around a hub, hinged about z. */
    GRAPH_GRID,  /* Bodies in rows and columns, each with two elastic arms that hold neighbors. */
    GRAPH_KIND_COUNT
} graph_kind;

typedef struct graph_def {
    graph_kind kind;
    int parts;
    double mass_ratio;    /* Mass of every second part (kg); that of the others is 1 kg. */
    const char *coupling; /* "{scheme: tight}" */
    double step;          /* s */
} graph_def;

extern const char *const graph_names[GRAPH_KIND_COUNT];

/* The text of the scenario, which the caller frees; NULL if memory is missing. Subsystem i is named
 * part_i and has the body `body`. */
char *graph_text(const graph_def *def);

#endif
