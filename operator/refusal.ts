/** The command refuses, and says why in its message. */
export class Refusal extends Error {}
