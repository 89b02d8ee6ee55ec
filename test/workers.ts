/** Files of tests with servers that run at a time. They wait for two fifths of their time. */
export const workers = 3

/** Files that run at a time where each waits for most of its time. */
export const waitingWorkers = 4
