/* The reader of contact problems: all storage formats, and files with each kind of mistake. */
#include "contact/read.h"

#include "contact/problems.h"

static const char dense_file[] = "2 1\n0 2 2\n2 2\n 1 0.5 0.25 2\n-1 3\n0.4\n";
static const char block_file[] = "2 2\n1 4 4\n2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 1\n0\n1 0.5 0.25 "
                                 "2\n1\n3 0 0 3\n-1 0 -2 0\n0.4 0.5\n1\n";

static const char column_file[] =
    "2 2\n2 4 4\n1\nCSparse Version 3.1.4, May 2014.  Copyright (c) Timothy A. Davis, 2006-2014\n"
    "4-by-4, nzmax: 6 nnz: 6, 1-norm: 3\n"
    "    col 0 : locations 0 to 1\n      0 : 1\n      1 : 0.5\n    col 1 : locations 2 to 3\n      "
    "0 : 0.25\n"
    "      1 : 2\n    col 2 : locations 4 to 4\n      2 : 3\n    col 3 : locations 5 to 5\n      3 "
    ": 3\n"
    "-1 0 -2 0\n0.4 0.5\n1\n";
static const char row_file[] =
    "2 2\n2 4 4\n3\nCSparse Version 3.1.4, May 2014.  Copyright (c) Timothy A. Davis, 2006-2014\n"
    "4-by-4, nzmax: 6 nnz: 6, 1-norm: 3\n"
    "    col 0 : locations 0 to 1\n      0 : 1\n      1 : 0.25\n    col 1 : locations 2 to 3\n     "
    " 0 : 0.5\n"
    "      1 : 2\n    col 2 : locations 4 to 4\n      2 : 3\n    col 3 : locations 5 to 5\n      3 "
    ": 3\n"
    "-1 0 -2 0\n0.4 0.5\n1\n";
static const char triplet_file[] =
    "2 2\n2 4 4\n0\nCSparse Version 3.1.4, May 2014.  Copyright (c) Timothy A. Davis, 2006-2014\n"
    "triplet: 4-by-4, nzmax: 9 nnz: 7\n    3 3 : 3\n    1 0 : 0.5\n    0 0 : 0.75\n    0 1 : "
    "0.25\n    1 1 : 2\n"
    "    2 2 : 3\n    0 0 : 0.25\n-1 0 -2 0\n0.4 0.5\n1\n";

/* In the velocities of bodies, H in blocks; with rolling friction. */
static const char global_file[] =
    "2 1\n0 2 2\n2 2\n2 0 0 2\n1 2 2\n1 1 1\n2\n2\n2 1\n0 1\n0\n0\n0 1 1 "
    "0\n8 -6\n0 0\n0.5\n";
static const char rolling_file[] =
    "5 1\n0 5 5\n5 5\n1 0 0 0 0 0 2 0 0 0 0 0 2 0 0 0 0 0 4 0 0 0 0 0 "
    "4\n-1 0 0 0 4\n0.5\n0.2\n";

static void storages_are_read(void **state)
{
    (void)state;
    yk_context *context = make_context();
    yk_contact_problem problem;
    assert_int_equal(yk_contact_parse(context, "dense", dense_file, strlen(dense_file), &problem),
                     YK_OK);
    assert_int_equal(problem.contact_count, 1);
    assert_near(problem.w.value[1], 0.25, 0); /* column-major in the file */
    assert_near(problem.q[1], 3, 0);
    assert_near(problem.mu[0], 0.4, 0);
    yk_contact_problem_destroy(context, &problem);
    assert_int_equal(yk_contact_parse(context, "blocks", block_file, strlen(block_file), &problem),
                     YK_OK);
    assert_int_equal(problem.contact_count, 2);
    assert_near(problem.w.value[1], 0.25, 0);
    assert_near(problem.w.value[4], 3, 0);
    const char *sparse[] = {column_file, row_file, triplet_file};
    for (int i = 0; i < 3; i++) {
        yk_contact_problem same;
        yk_status status = yk_contact_parse(context, "sparse", sparse[i], strlen(sparse[i]), &same);
        if (status != YK_OK)
            fail_msg("%s", yk_last_message(context));
        assert_int_equal(same.w.start[2], problem.w.start[2]);
        assert_memory_equal(same.w.value, problem.w.value, 8 * sizeof(double));
        assert_memory_equal(same.q, problem.q, 4 * sizeof(double));
        assert_near(same.mu[1], 0.5, 0);
        yk_contact_problem_destroy(context, &same);
    }
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* A file may leave out blocks: the diagonal of the first contact, and the mirror image of block
 * (0, 1). */
static void missing_blocks_are_zero(void **state)
{
    (void)state;
    yk_context *context = make_context();
    static const char text[] = "2 2\n1 4 4\n2 2 2\n2 4\n2 4\n3 2\n0 1 2\n1 1\n0\n1 2 3 4\n1\n3 0 0 "
                               "3\n-1 0 -2 0\n0.4 0.5\n";
    yk_contact_problem problem;
    assert_int_equal(yk_contact_parse(context, "sparse", text, strlen(text), &problem), YK_OK);
    assert_int_equal(yk_contact_problem_check(context, &problem), YK_OK);
    assert_int_equal(problem.w.start[2], 4);
    assert_near(problem.w.value[0], 0, 0);
    assert_near(problem.w.value[5], 3, 0); /* block (0, 1), column-major in the file */
    assert_near(problem.w.value[8], 0, 0);
    assert_near(problem.w.value[12], 3, 0);
    yk_contact_problem_destroy(context, &problem);
    yk_context_destroy(context);
}

/* Every truncation of a file is an error and nothing worse; so is every single byte replaced
 * (unless it still makes sense). */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    yk_context *context = make_context();
    const char *files[] = {dense_file,
                           block_file,
                           column_file,
                           triplet_file,
                           global_file,
                           rolling_file,
                           "1 1 1 1 0 1 2 0 1 0 2 2 2 2 1 0 -1 1 -1 1",
                           "2 0 2 2 2 2 2 1 1 2 -5 -6"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t length = strlen(files[f]);
        char text[1024];
        for (size_t cut = 0; cut < length; cut++)
            for (int damage = 0; damage < 4; damage++) {
                yk_contact_problem problem;
                yk_mlcp mlcp;
                memcpy(text, files[f], length + 1);
                size_t used = length;
                if (damage == 0)
                    text[used = cut] = 0;
                else
                    text[cut] = "x9-"[damage - 1];
                if (yk_contact_parse(context, "damaged", text, used, &problem) == YK_OK) {
                    assert_int_equal(yk_contact_problem_check(context, &problem), YK_OK);
                    yk_contact_problem_destroy(context, &problem);
                }
                if (yk_mlcp_parse(context, "damaged", text, used, &mlcp) == YK_OK)
                    yk_mlcp_destroy(context, &mlcp);
            }
    }
    yk_context_destroy(context);
}

static void refuse(yk_context *context, const char *text, const char *expected)
{
    yk_contact_problem problem;
    assert_int_equal(yk_contact_parse(context, "bad.dat", text, strlen(text), &problem),
                     YK_ERROR_INPUT);
    if (!strstr(yk_last_message(context), expected))
        fail_msg("'%s' lacks '%s'", yk_last_message(context), expected);
    assert_non_null(strstr(yk_last_message(context), "bad.dat:"));
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    yk_context *context = make_context();
    refuse(context, "", "the file ends");
    refuse(context, "4 1", "dimension");
    refuse(context, "3 2000000000", "number of contacts");
    refuse(context, "3 90000000 ", "more than the rest of the file");
    refuse(context, "2 1\n0 2 2\n3 2\n", "bad.dat:3:");
    refuse(context, "2 1\n7 2 2\n", "storage");
    refuse(context, "2 1\n2 2 2\n0\n1 2 3", "nnz:");
    refuse(context, "2 1\n2 2 2\n0\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 0 5 : 1\n",
           "column of an entry");
    refuse(context, "2 1\n2 2 2\n0\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\n 0 : 1\n", "'col'");
    refuse(context, "2 1\n0 2 2\n2 2\n1 0 0 nan\n", "finite");
    refuse(context, "2 1\n0 2 2\n2 2\n1 0 0 1\n-1 0\n-0.5\n", "negative");
    refuse(context, "2 2\n1 4 4\n2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 9\n", "block column");
    /* a flag may follow, but not what global and plasticity problems have */
    refuse(context, "2 1\n0 2 2\n2 2\n1 0 0 1\n-1 0\n0.5\n1\n0.3\n", "after mu");
    yk_mlcp relay;
    const char text[] = "1\n0 1 1\n1 1\n2\n-3\n-1\n1\n",
               solved[] = "1\n0 1 1\n1 1\n2\n-3\n1.5\n0\na remark\n";
    assert_int_equal(yk_mlcp_parse(context, "bad.dat", text, strlen(text), &relay), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(context), "relay"));
    assert_int_equal(yk_mlcp_parse(context, "good.dat", solved, strlen(solved), &relay), YK_OK);
    yk_mlcp_destroy(context, &relay);
    yk_contact_problem problem;
    assert_int_equal(yk_contact_read(context, "no/such/file.dat", &problem), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(context), "no/such/file.dat"));
    assert_true(YK_FAILED(yk_contact_read(context, ".", &problem)));
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storages_are_read),
        cmocka_unit_test(missing_blocks_are_zero),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(errors_say_what_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
