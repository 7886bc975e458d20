/* The code of an expression: operations of a stack machine, one after another. Running it allocates
 * nothing and writes only to its own stack, so it is thread-safe. */
#ifndef YK_MODEL_EXPRESSION_CODE_H
#define YK_MODEL_EXPRESSION_CODE_H

#include "math/lookup.h"

typedef struct yk_instruction {
    /* Operations on the top of the stack. */
    enum {
        YK_OPERATION_NUMBER,   /* pushes `number` */
        YK_OPERATION_VARIABLE, /* pushes the value of variable `index` */
        YK_OPERATION_SQUARE,   /* square, cube and fourth power of the top */
        YK_OPERATION_CUBE,
        YK_OPERATION_FOURTH,
        YK_OPERATION_NEGATE,
        YK_OPERATION_ADD,
        YK_OPERATION_SUBTRACT,
        YK_OPERATION_MULTIPLY,
        YK_OPERATION_DIVIDE,
        YK_OPERATION_POWER,
        YK_OPERATION_LESS,
        YK_OPERATION_LESS_EQUAL,
        YK_OPERATION_GREATER,
        YK_OPERATION_GREATER_EQUAL,
        YK_OPERATION_EQUAL,
        YK_OPERATION_UNEQUAL,
        YK_OPERATION_AND,
        YK_OPERATION_OR,
        YK_OPERATION_CALL_1,
        YK_OPERATION_CALL_2,
        YK_OPERATION_CALL_3,
        YK_OPERATION_CALL_MANY, /* of `index` values */
        YK_OPERATION_TABLE_1,   /* the value of a table with one argument */
        YK_OPERATION_TABLE_2,
        YK_OPERATION_JUMP,   /* skips the next `index` operations */
        YK_OPERATION_UNLESS, /* pops a value, and skips in the same way if it is 0 */
    } operation;
    int index;
    union {
        double number;
        double (*one)(double x);
        double (*two)(double x, double y);
        double (*three)(double x, double y, double z);
        double (*many)(const double *values, int count);
        const yk_lookup *table;
    };
} yk_instruction;

/* Code under construction, with memory for all instructions. */
typedef struct yk_code {
    yk_instruction *instructions;
    int count;
    int settled; /* instructions before it end a branch, and must not be folded */
} yk_code;

/* Appends an instruction with `operands` operands; if all of them are numbers, appends the result. */
void yk_code_append(yk_code *code, yk_instruction next, int operands);
/* Sets the target of the jump with index `jump` to the present end. */
void yk_code_land(yk_code *code, int jump);

enum { YK_CODE_STACK_MAX = 512 };

/* The final value. At most YK_CODE_STACK_MAX values are on the stack. */
double yk_code_run(const yk_instruction *instructions, int count, const double *variables);

#endif
