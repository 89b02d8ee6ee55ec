import type { Call, Fields } from './call.ts'
import type { Gateway } from './gateway.ts'

export type { Call, Fields } from './call.ts'

/** A thing that the file names. */
export interface Item {
  kind: Kind
  /** Such as `project shop`. */
  what: string
  /** The line of the file and the path there: `setup.yaml:12: organizations[0].projects[1]`. */
  at: string
  /** The organization that it is of; undefined: the instance. */
  organization?: string | undefined
  /** The ids that name it, by the names of the fields that take them. */
  ids: Record<string, string>
  /** The fields that the file names. */
  wanted: Fields
  /** The thing that it is of. Where that is missing, so is this one. */
  parent?: Item | undefined
  /** Things that it names, by the kind and the id. */
  names: { kind: 'organization' | 'project' | 'user'; id: string }[]
}

/** A kind of things: how one is read, made and set, by operations of the API. */
export interface Kind {
  name: string
  /** Kinds of a lower rank are made first. */
  rank: number
  /** The type of its aggregate, where a chosen id is never given again. */
  aggregate?: string
  /** What there is of it, or undefined. Throws a Contradiction where its ids mean something else. */
  read(gateway: Gateway, item: Item): Promise<Fields | undefined>
  add(item: Item, env: Environment): Call
  /** The calls that set `changed`, which has those of the wanted values that differ. */
  set(item: Item, changed: Fields, former: Fields): Call[]
  /** Fields that count only where it is made. */
  atFirst?: string[]
  /** Its fields are about a person: no value of them is shown. */
  personal?: boolean
}

export type Environment = Record<string, string | undefined>

/** The file contradicts what is there. One sentence. */
export class Contradiction extends Error {}
