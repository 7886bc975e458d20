/* The code of an expression: operations of a stack machine, one after the other. It is run without
 * allocations, writes nothing but its own stack, and so is the same for any number of threads. */
#ifndef YK_MODEL_EXPRESSION_CODE_H
#define YK_MODEL_EXPRESSION_CODE_H

typedef struct yk_instruction {
    /* What it does with the values on top of the stack. */
    enum {
        YK_OPERATION_NUMBER,   /* puts `number` there */
        YK_OPERATION_VARIABLE, /* puts the value of variable `index` there */
        YK_OPERATION_SQUARE,   /* its square, cube and fourth power */
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
        YK_OPERATION_JUMP,      /* passes over the next `index` operations */
        YK_OPERATION_UNLESS,    /* likewise, where the value that it takes away is 0 */
    } operation;
    int index;
    union {
        double number;
        double (*one)(double x);
        double (*two)(double x, double y);
        double (*three)(double x, double y, double z);
        double (*many)(const double *values, int count);
    };
} yk_instruction;

/* Code while it is made, in memory for as many instructions as will be appended. */
typedef struct yk_code {
    yk_instruction *instructions;
    int count;
    int settled; /* those before it end a branch, and stay as they are */
} yk_code;

/* Appends an instruction that takes `operands` values; where they are all numbers, its result. */
void yk_code_append(yk_code *code, yk_instruction next, int operands);
/* Lets a jump that was appended as number `jump` lead to the present end. */
void yk_code_land(yk_code *code, int jump);

enum { YK_CODE_STACK_MAX = 512 };

/* The one value that is left. At most YK_CODE_STACK_MAX are on the stack at a time. */
double yk_code_run(const yk_instruction *instructions, int count, const double *variables);

#endif
