/* Contact problems in HDF5 files of FCLIB: written and read back, global ones with bilateral rows, and
 * files that are wrong. */
#include "record/fclib.h"

#include <hdf5.h>
#include <math.h>

#include "folder.h"

/* Two contacts in the plane and what couples them. */
static yk_contact_problem small_problem(yk_context *context)
{
    static const double w[] = {2, 0.1, 0.5, 0, 0.1, 3, 0, 0.25, 0.5, 0, 4, 0, 0, 0.25, 0, 5};
    static const double q[] = {-1, 0.5, -2, 0.25}, mu[] = {0.3, 0.6};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(context, 2, 2, 0, w, q, mu, &problem), YK_OK);
    return problem;
}

static void written_is_read_back(void **state)
{
    test_folder *self = *state;
    yk_context *context = self->context;
    yk_contact_problem problem = small_problem(context), read;
    problem.softness = yk_allocate(context, 4, sizeof(double));
    problem.softness[2] = 0.125;
    const char *path = in_folder(self, "p.hdf5");
    assert_int_equal(yk_fclib_write(context, path, &problem), YK_OK);
    assert_true(yk_fclib_is_hdf5(path));
    if (yk_fclib_read(context, path, &read) != YK_OK)
        fail_msg("%s", yk_last_message(context));

    assert_int_equal(read.contact_count, 2);
    assert_int_equal(read.row_count, 4);
    assert_memory_equal(read.q, problem.q, 4 * sizeof(double));
    assert_memory_equal(read.mu, problem.mu, 2 * sizeof(double));

    /* Softness is on the diagonal. */
    double x[4] = {1, -2, 3, 0.5}, a[4], b[4];
    yk_contact_multiply(&problem, x, a);
    yk_contact_multiply(&read, x, b);
    for (int i = 0; i < 4; i++)
        assert_near(a[i], b[i], 1e-15);
    yk_contact_problem_destroy(context, &problem);
    yk_contact_problem_destroy(context, &read);
}

static void put(hid_t file, const char *name, bool whole, size_t count, const void *values)
{
    hid_t type = whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
}

static void put_integer(hid_t file, const char *name, int value)
{
    put(file, name, true, 1, &value);
}

/* Sizes and triplets of a matrix of the group. */
static void put_matrix(hid_t file, const char *group, const char *name, int rows, int columns,
                       int count, const int *i, const int *p, const double *x)
{
    static const char *const sizes[] = {"m", "n", "nzmax", "nz"};
    const int values[] = {rows, columns, count, count};
    char path[64];
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s/%s", group, name, sizes[k]);
        put_integer(file, path, values[k]);
    }
    snprintf(path, sizeof path, "%s/%s/i", group, name);
    put(file, path, true, (size_t)count, i);
    snprintf(path, sizeof path, "%s/%s/p", group, name);
    put(file, path, true, (size_t)count, p);
    snprintf(path, sizeof path, "%s/%s/x", group, name);
    put(file, path, false, (size_t)count, x);
}

/* A body of 2 kg in the plane with velocities (x, z), a contact below it, and a rail that lets it move
 * along (1, 1) alone. `mass_column` of the last entry of M may be wrong. */
static void write_global(const char *path, int mass_column)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    put_integer(file, "fclib_global/spacedim", 2);
    const int at[] = {0, 1}, across[] = {1, 0}, mass_p[] = {0, mass_column}, zero[] = {0, 0};
    const double two[] = {2, 2}, one[] = {1, 1}, rail[] = {1, -1};
    put_matrix(file, "fclib_global", "M", 2, 2, 2, at, mass_p, two);
    put_matrix(file, "fclib_global", "H", 2, 2, 2, at, across, one);
    put_matrix(file, "fclib_global", "G", 2, 1, 2, at, zero, rail);
    const double f[] = {8, -6}, w[] = {0.5, 0}, b[] = {0.25}, mu[] = {0.5};
    put(file, "fclib_global/vectors/f", false, 2, f);
    put(file, "fclib_global/vectors/w", false, 2, w);
    put(file, "fclib_global/vectors/b", false, 1, b);
    put(file, "fclib_global/vectors/mu", false, 1, mu);
    H5Fclose(file);
}

/* W = J^T M^-1 J, q = J^T M^-1 f + (w b) with J = (H G). */
static void global_is_condensed(void **state)
{
    test_folder *self = *state;
    const char *path = in_folder(self, "g.hdf5");
    write_global(path, 1);
    yk_contact_problem problem;
    if (yk_fclib_read(self->context, path, &problem) != YK_OK)
        fail_msg("%s", yk_last_message(self->context));
    assert_int_equal(problem.contact_count, 1);
    assert_int_equal(problem.row_count, 3);
    assert_null(problem.mu_roll);

    /* Normal along z, tangent along x, the rail x - z. */
    const double expected[3][3] = {{0.5, 0, -0.5}, {0, 0.5, 0.5}, {-0.5, 0.5, 1}};
    const double q[3] = {-3 + 0.5, 4, 7 + 0.25};
    for (int c = 0; c < 3; c++) {
        double x[3] = {0}, y[3];
        x[c] = 1;
        yk_contact_multiply(&problem, x, y);
        assert_near(problem.q[c], q[c], 1e-15);
        for (int r = 0; r < 3; r++)
            assert_near(y[r], expected[r][c], 1e-15);
    }
    yk_contact_problem_destroy(self->context, &problem);
}

/* A body of one contact with all its rows, masses 1 to 5: (N, T1, T2, R1, R2) get a row of spinning
 * between them. */
static void rolling_is_read(void **state)
{
    test_folder *self = *state;
    const char *path = in_folder(self, "r.hdf5");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    put_integer(file, "fclib_global_rolling/spacedim", 5);
    const int at[] = {0, 1, 2, 3, 4};
    const double mass[] = {1, 2, 3, 4, 5}, one[] = {1, 1, 1, 1, 1}, f[] = {-1, 2, 3, 4, 5};
    const double w[] = {0, 0, 0, 0, 0}, mu[] = {0.5}, mu_r[] = {0.25};
    put_matrix(file, "fclib_global_rolling", "M", 5, 5, 5, at, at, mass);
    put_matrix(file, "fclib_global_rolling", "H", 5, 5, 5, at, at, one);
    put(file, "fclib_global_rolling/vectors/f", false, 5, f);
    put(file, "fclib_global_rolling/vectors/w", false, 5, w);
    put(file, "fclib_global_rolling/vectors/mu", false, 1, mu);
    put(file, "fclib_global_rolling/vectors/mu_r", false, 1, mu_r);
    H5Fclose(file);

    yk_contact_problem problem;
    if (yk_fclib_read(self->context, path, &problem) != YK_OK)
        fail_msg("%s", yk_last_message(self->context));
    assert_int_equal(problem.row_count, 6);
    assert_near(problem.mu_roll[0], 0.25, 0);
    const double q[6] = {-1, 1, 1, 0, 1, 1};
    for (int i = 0; i < 6; i++)
        assert_near(problem.q[i], q[i], 1e-15);
    yk_contact_problem_destroy(self->context, &problem);
}

static void expect_refusal(test_folder *self, const char *path, const char *why)
{
    yk_contact_problem problem;
    assert_true(YK_FAILED(yk_fclib_read(self->context, path, &problem)));
    if (!strstr(yk_last_message(self->context), why))
        fail_msg("'%s' lacks '%s'", yk_last_message(self->context), why);
}

static void wrong_files_are_refused(void **state)
{
    test_folder *self = *state;
    yk_context *context = self->context;
    char other[512];
    snprintf(other, sizeof other, "%s", in_folder(self, "other.hdf5"));
    write_global(other, 1);
    const char *path = in_folder(self, "bad.hdf5");

    /* An index that leads beyond the matrix. */
    write_global(path, 7);
    expect_refusal(self, path, "of M is in row 1 and column 7 of 2 x 2");

    /* A group that is another file's. */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Lcreate_external(other, "fclib_global", file, "fclib_global", H5P_DEFAULT,
                                   H5P_DEFAULT) >= 0);
    H5Fclose(file);
    expect_refusal(self, path, "no contact problem of FCLIB");

    /* A list that is too short, and one that is no list of numbers. */
    yk_contact_problem problem = small_problem(context);
    assert_int_equal(yk_fclib_write(context, path, &problem), YK_OK);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "fclib_local/vectors/mu", H5P_DEFAULT);
    put(file, "fclib_local/vectors/mu", false, 1, problem.mu);
    H5Fclose(file);
    expect_refusal(self, path, "has 1 numbers, expected 2");
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "fclib_local/W/i", H5P_DEFAULT);
    put(file, "fclib_local/W/i", false, 4, problem.q);
    H5Fclose(file);
    expect_refusal(self, path, "not a list of numbers");

    /* A file that ends early, and none. */
    assert_int_equal(yk_fclib_write(context, path, &problem), YK_OK);
    assert_int_equal(truncate(path, 700), 0);
    expect_refusal(self, path, "damaged or truncated");
    assert_int_equal(unlink(path), 0);
    yk_contact_problem none;
    assert_int_equal(yk_fclib_read(context, path, &none), YK_ERROR_FILE);
    assert_false(yk_fclib_is_hdf5(path));
    yk_contact_problem_destroy(context, &problem);
}

/* Problems that FCLIB's layout cannot describe. */
static void joints_are_not_written(void **state)
{
    test_folder *self = *state;
    static const double w[] = {2, 0, 0, 0, 3, 0, 0, 0, 4}, q[] = {-1, 0, 0}, mu[] = {0.3};
    yk_contact_problem problem;
    assert_int_equal(yk_contact_problem_from_dense(self->context, 2, 1, 1, w, q, mu, &problem),
                     YK_OK);
    assert_int_equal(yk_fclib_write(self->context, in_folder(self, "j.hdf5"), &problem),
                     YK_ERROR_CAPABILITY);
    yk_contact_problem_destroy(self->context, &problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_is_read_back, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(global_is_condensed, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(rolling_is_read, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(wrong_files_are_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(joints_are_not_written, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
