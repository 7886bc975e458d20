/* The coefficients of the Runge-Kutta method of order 8, as data. */
#ifndef YK_SMOOTH_RUNGE_KUTTA_H
#define YK_SMOOTH_RUNGE_KUTTA_H

enum { YK_RUNGE_KUTTA_STAGES = 12 };

typedef struct yk_runge_kutta {
    double a[YK_RUNGE_KUTTA_STAGES][YK_RUNGE_KUTTA_STAGES];
    double c[YK_RUNGE_KUTTA_STAGES];
    double b[YK_RUNGE_KUTTA_STAGES];
    double error5[YK_RUNGE_KUTTA_STAGES]; /* b less the weights of a method of order 5, and of one of order 3 */
    double error3[YK_RUNGE_KUTTA_STAGES];
} yk_runge_kutta;

const yk_runge_kutta *yk_runge_kutta_853(void);

#endif
