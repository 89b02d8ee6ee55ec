import type { DescEnum } from '@bufbuild/protobuf'

/** The way of a message: requests go to Roster, answers come from there. */
export type Way = 'request' | 'answer'

/**
 * Values go over by their numbers. So each value that may go over must have the same name on the other side. The
 * beginning that all names of an enum share does not count. Throws where a name differs.
 */
export function checkEnums(way: Way, foreign: DescEnum, own: DescEnum): void {
  const [from, to] = way === 'request' ? [foreign, own] : [own, foreign]
  for (const { number, name } of from.values) {
    const other = to.value[number]
    if (!other || ending(from, name) !== ending(to, other.name))
      throw new Error(`${from.typeName}.${name} is not the ${number} of ${to.typeName}`)
  }
}

function ending({ values }: DescEnum, name: string): string {
  const words = name.split('_')
  const shared = words.findIndex((word, at) => values.some((value) => value.name.split('_')[at] !== word))
  return shared < 0 ? name : words.slice(shared).join('_')
}
