/* Replaces MBDyn in tests: a mass on a spring, m y'' = F - k y, that speaks the protocol of
 * `force: ..., external structural` over a UNIX socket for one node, with orientation matrices.
 *
 *   mbdyn_standin PATH staggered|loose|tight create|connect STEP STEPS [two]
 *
 * "two": with a second node, carried by the mass at (3, y + 4, 5) m.
 *
 * Everything that arrives is checked: what the protocol does not have ends it with code 1. One step is
 * Newmark's average acceleration with the force at its end, and an "iteration" solves it for the
 * force that came. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const double MASS = 2;        /* kg */
static const double STIFFNESS = 150; /* N/m */

static int peer;
static uint32_t nodes = 1;

static void give_up(const char *why)
{
    fprintf(stderr, "stand-in: %s\n", why);
    exit(1);
}

static void receive(void *bytes, size_t count)
{
    char *target = bytes;
    while (count > 0) {
        ssize_t got = read(peer, target, count);
        if (got <= 0)
            give_up("the peer has gone");
        target += got;
        count -= (size_t)got;
    }
}

static void transmit(unsigned char command, const double *numbers, size_t count)
{
    if (write(peer, &command, 1) != 1 ||
        (count > 0 &&
         write(peer, numbers, count * sizeof *numbers) != (ssize_t)(count * sizeof *numbers)))
        give_up("cannot write");
}

static void send_motion(unsigned char command, double y, double v)
{
    /* Field by field, each for all nodes. */
    const double of_one[18] = {0, y, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, v, 0, 0, 0, 0};
    const double of_two[36] = {0, y, 0, 3, y + 4, 5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0,
                               0, 1, 0, 0, 0,     1, 0, v, 0, 0, v, 0, 0, 0, 0, 0, 0, 0};
    transmit(command, nodes == 2 ? of_two : of_one, 18 * nodes);
}

/* The force along y. */
static double receive_force(unsigned char *command)
{
    double numbers[12];
    receive(command, 1);
    if (*command == 5) {
        printf("stand-in: the peer has ended\n");
        exit(0);
    }
    if (*command != 2 && *command != 6)
        give_up("unknown command");
    receive(numbers, 6 * nodes * sizeof *numbers);
    return numbers[1];
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 7)
        give_up("usage: mbdyn_standin PATH staggered|loose|tight create|connect STEP STEPS [two]");
    signal(SIGPIPE, SIG_IGN);
    const char *coupling = argv[2];
    double h = atof(argv[4]);
    int steps = atoi(argv[5]);
    if (argc == 7)
        nodes = 2;
    const uint32_t agreed[2] = {0x2 | 0x200, nodes};

    /* Meet. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    int first = socket(AF_UNIX, SOCK_STREAM, 0);
    if (strcmp(argv[3], "create") == 0) {
        unlink(argv[1]);
        if (bind(first, (struct sockaddr *)&address, sizeof address) || listen(first, 1))
            give_up("cannot listen");
        peer = accept(first, NULL, NULL);
        unsigned char command;
        uint32_t theirs[2];
        receive(&command, 1);
        receive(theirs, sizeof theirs);
        bool good = command == 7 && memcmp(theirs, agreed, sizeof agreed) == 0;
        transmit(good ? 8 : 5, NULL, 0);
        if (!good)
            give_up("another force was expected");
    } else {
        for (int i = 0; connect(first, (struct sockaddr *)&address, sizeof address) != 0; i++) {
            if (i > 600)
                give_up("no process listens");
            usleep(100000);
        }
        peer = first;
        unsigned char hello[10] = {7, [9] = 8};
        memcpy(hello + 1, agreed, sizeof agreed);
        if (write(peer, hello, sizeof hello) != sizeof hello)
            give_up("cannot write");
    }

    /* Step. */
    double y = 0.1;
    double v = 0;
    double force = 0;
    unsigned char command;
    bool tight = strcmp(coupling, "tight") == 0;
    bool staggered = strcmp(coupling, "staggered") == 0;
    send_motion(tight ? 2 : 6, y, v);
    force = receive_force(&command);
    if (command != (staggered ? 2 : 6))
        give_up("this coupling has another answer");
    double a = 0;
    if (staggered)
        send_motion(6, y, v);
    for (int i = 0; i < steps; i++) {
        double y1 = y + h * v + 0.5 * h * h * a;
        double v1 = v + h * a;
        double a1 = a;
        if (!staggered)
            send_motion(tight ? 2 : 6, y1, v1);
        for (bool again = true; again;) {
            force = receive_force(&command);
            if (command != (staggered ? 2 : 6) && !tight)
                give_up("this coupling has another answer");

            /* y1 = y + h v + h^2 (w0 a + w1 a1) / 2,  v1 = v + h (w0 a + w1 a1). The first step, in
             * which no acceleration is known, has the weights 0 and 1 of Euler's method. */
            double w0 = i == 0 ? 0 : 0.5;
            double w1 = 1 - w0;
            a1 = (force - STIFFNESS * (y + h * v + 0.5 * h * h * w0 * a)) /
                 (MASS + 0.5 * h * h * w1 * STIFFNESS);
            y1 = y + h * v + 0.5 * h * h * (w0 * a + w1 * a1);
            v1 = v + h * (w0 * a + w1 * a1);
            again = tight && command == 2;
            if (again)
                send_motion(2, y1, v1);
        }
        y = y1;
        v = v1;
        a = a1;
        if (staggered)
            send_motion(6, y, v);
    }

    /* The peer may have left already: it has all that it needs. */
    unsigned char end = 5;
    if (write(peer, &end, 1) != 1)
        fprintf(stderr, "stand-in: the end was not received\n");
    printf("%.12g %.12g\n", y, v);
    return 0;
}
