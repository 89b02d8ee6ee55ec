/** Files of tests with servers that run at a time. They wait for two fifths of their time. */
export const workers = 3
