/* Names for messages. */
#include <stdio.h>

#include "smooth/internal.h"

const char *yk_smooth_owner(const yk_smooth_model *model, int unknown, char *buffer,
                            size_t capacity)
{
    int rows = model->motion_count;
    if (unknown < model->coordinate_first) {
        snprintf(buffer, capacity, "node '%s'", model->nodes[unknown / 6].name);
        return buffer;
    }
    if (unknown < rows) {
        int last = model->def.flexible_count - 1, coordinate = unknown - model->coordinate_first;
        while (last > 0 && model->flexibles[last].coordinate > coordinate)
            last--;
        snprintf(buffer, capacity, "coordinate %d of '%s'",
                 coordinate - model->flexibles[last].coordinate + 1, model->flexibles[last].name);
        return buffer;
    }
    for (int i = 0; i < model->joint_count; i++) {
        const joint_model *joint = &model->joints[i];
        if (unknown - rows < joint->row + joint->joint.row_count) {
            snprintf(buffer, capacity, "%s '%s'", joint->port >= 0 ? "port" : "joint", joint->name);
            return buffer;
        }
    }
    snprintf(buffer, capacity, "equation %d", unknown);
    return buffer;
}
