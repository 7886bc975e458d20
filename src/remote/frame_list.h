/* The kinds of frames: number on the wire, identifier, and name in docs/protocol.md. Numbers never change; a new kind gets
 * the next one. The enumeration, the names and the table of the server follow from these rows. */
#ifndef YK_REMOTE_FRAME_LIST_H
#define YK_REMOTE_FRAME_LIST_H

/* Frames of the handshake, with which both sides prove who they are. */
#define YK_MEETING_FRAMES(ROW) \
    ROW(1, HELLO, hello)       \
    ROW(2, PROOF, proof)

/* Requests to the subsystem: ANY at any time, RUNNING only after it was initialized. */
#define YK_QUESTION_FRAMES(ROW)                        \
    ROW(3, DESCRIBE, describe, ANY)                    \
    ROW(4, CONNECT, connect, ANY)                      \
    ROW(5, MOVE_PORT, move_port, ANY)                  \
    ROW(6, START, start, ANY)                          \
    ROW(7, STEP, step, RUNNING)                        \
    ROW(8, ITERATE, iterate, RUNNING)                  \
    ROW(9, SENSITIVITY, sensitivity, RUNNING)          \
    ROW(10, INTERFACE_MODEL, interface_model, RUNNING) \
    ROW(11, STEP_MODEL, step_model, RUNNING)           \
    ROW(12, STATE_GET, state_get, RUNNING)             \
    ROW(13, STATE_SET, state_set, RUNNING)             \
    ROW(14, PREDICT, predict, RUNNING)                 \
    ROW(15, NEXT_EVENT, next_event, ANY)               \
    ROW(16, CHANNELS, channels, RUNNING)               \
    ROW(17, ABOUT, about, ANY)                         \
    ROW(18, STEPS, steps, RUNNING)                     \
    ROW(19, MARK, mark, RUNNING)                       \
    ROW(20, REWIND, rewind, RUNNING)                   \
    ROW(21, COUNTS, counts, RUNNING)                   \
    ROW(22, SCENE, scene, RUNNING)                     \
    ROW(23, POSES, poses, RUNNING)                     \
    ROW(24, CONTACT_POINTS, contact_points, RUNNING)   \
    ROW(25, PART_WORDS, part_words, RUNNING)           \
    ROW(26, RELAX, relax, RUNNING)                     \
    ROW(27, SOME_CHANNELS, some_channels, RUNNING)     \
    ROW(28, STATE_USE, state_use, ANY)                 \
    ROW(29, PORT_UNIT, port_unit, ANY)

#endif
