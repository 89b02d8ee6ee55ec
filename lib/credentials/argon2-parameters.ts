/** How much work a hash is. Its memory is in KiB. */
export interface Work {
  memory: number
  passes: number
  parallelism: number
}

/** OWASP's recommendations for Argon2id, as the texts of hashes have them. Each is about as hard to guess by. */
export const offered = [
  'm=47104,t=1,p=1',
  'm=19456,t=2,p=1',
  'm=12288,t=3,p=1',
  'm=9216,t=4,p=1',
  'm=7168,t=5,p=1',
] as const

/** Those of the former release, which knows no others. */
export const standard = 'm=19456,t=2,p=1'

/** Reads parameters. Undefined: the text has none with which Argon2id can be computed. */
export function workOf(parameters: string): Work | undefined {
  const [, ...numbers] = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters) ?? []
  const [memory = 0, passes = 0, parallelism = 0] = numbers.map(Number)
  return passes > 0 && parallelism > 0 && memory >= 8 * parallelism ? { memory, passes, parallelism } : undefined
}

/** The parameters of a hash in the PHC string format. */
export function parametersOf(hash: string): string {
  return hash.split('$')[3] ?? ''
}
