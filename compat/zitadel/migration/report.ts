import { shown } from './shown.ts'

export const kinds = [
  'organization',
  'user',
  'project',
  'role',
  'project grant',
  'user grant',
  'member',
  'identity provider',
  'state',
  'verified address',
] as const

export type Kind = (typeof kinds)[number]

/** What became of the objects: counts of all, and a line for each that was not moved. */
export interface Report {
  /** So many objects were moved, or would be in a dry run. */
  moved(kind: Kind, number?: number): void
  /** So many objects are in Roster already. */
  there(kind: Kind, number?: number): void
  /** The object is not moved. */
  refused(kind: Kind, name: string, why: string): void
  /** The object is moved without this part. */
  without(part: string): void
  /** Says how far a step is. */
  progress(text: string): void
  /** The number of objects that were not moved. */
  refusals(): number
  /** Prints the counts. Returns whether something was refused. */
  finish(): boolean
}

export interface Printer {
  /** Takes a line of the result. */
  out: (line: string) => void
  /** Takes a line that says what goes on. */
  say: (line: string) => void
}

export function createReport({ out, say }: Printer, dry: boolean): Report {
  const counts = new Map(kinds.map((kind) => [kind, { moved: 0, there: 0, refused: 0 }]))
  const lacking = new Map<string, number>()
  return {
    moved: (kind, number = 1) => void (counts.get(kind)!.moved += number),
    there: (kind, number = 1) => void (counts.get(kind)!.there += number),
    refused(kind, name, why) {
      counts.get(kind)!.refused++
      out(`not moved: ${kind} ${shown(name)}: ${why.slice(0, 500)}`)
    },
    without: (part) => void lacking.set(part, (lacking.get(part) ?? 0) + 1),
    progress: say,
    refusals,
    finish() {
      const done = dry ? 'to move' : 'moved'
      for (const [kind, { moved, there, refused }] of counts)
        out(`${kind}: ${moved} ${done}, ${there} there already, ${refused} not moved`)
      for (const [part, number] of lacking) out(`left out: ${part} (${number})`)
      out(`not looked at: ${neverMoved}`)
      return refusals() > 0
    },
  }

  function refusals(): number {
    return counts.values().reduce((sum, { refused }) => sum + refused, 0)
  }
}

const neverMoved =
  'passwords, second factors, keys, secrets and tokens of machines, phone numbers, links to identity providers, ' +
  'metadata, applications, actions, policies, texts, sessions, events'
