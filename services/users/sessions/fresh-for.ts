/** Seconds that a first factor counts for what matters. */
export const freshFor = 600
