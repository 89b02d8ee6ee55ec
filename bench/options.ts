import { parseArgs } from 'node:util'
import { roster } from './workloads.ts'

export interface Options {
  seconds: number
  rounds: number
  connections: number
  users: number
  /** Compares a full system with an empty one, and does nothing else. */
  scale: number | undefined
  only: (typeof roster)[number][]
  encodings: ('json' | 'grpc' | 'connect')[]
  json: string | undefined
  profiles: string | undefined
}

export const usage = `npm run bench -- [options]
  --seconds N        timed seconds of a round (8)
  --rounds N         rounds of each workload, each after one of the bare chain (3)
  --connections N    requests under way at a time (64)
  --users N          users whose addresses are set (200)
  --only NAMES       of ${roster.join(',')}; or Scale alone, which takes minutes
  --objects N        users that Scale loads, with three grants each (100000)
  --encodings NAMES  of json,grpc,connect
  --json FILE        writes the results there
  --profiles FOLDER  writes a CPU profile of each service there
`

/** Reads the command line. Throws one Error. */
export function readOptions(args: string[]): Options {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: {
      seconds: text('8'),
      rounds: text('3'),
      connections: text('64'),
      users: text('200'),
      objects: text('100000'),
      only: text(roster.join(',')),
      encodings: text('json,grpc,connect'),
      json: { type: 'string' },
      profiles: { type: 'string' },
    },
  })
  return {
    seconds: number('seconds', values.seconds),
    rounds: number('rounds', values.rounds),
    connections: number('connections', values.connections),
    users: number('users', values.users),
    scale: values.only === 'Scale' ? number('objects', values.objects) : undefined,
    only: values.only === 'Scale' ? [] : list('only', values.only, [...roster]),
    encodings: list('encodings', values.encodings, ['json', 'grpc', 'connect']),
    json: values.json,
    profiles: values.profiles,
  }
}

function number(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`)
  return value
}

function list<Name extends string>(name: string, text: string, known: Name[]): Name[] {
  const names = text.split(',') as Name[]
  const unknown = names.find((candidate) => !known.includes(candidate))
  if (unknown !== undefined) throw new Error(`--${name}: ${unknown} is none of ${known.join(', ')}.`)
  return names
}
