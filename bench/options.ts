import { parseArgs } from 'node:util'
import { names } from './load/workloads.ts'

export interface Options {
  /** A measurement of its own, instead of the workloads. */
  measurement: Measurement | undefined
  only: (typeof names)[number][]
  encodings: ('json' | 'grpc' | 'connect')[]
  seconds: number
  rounds: number
  connections: number
  users: number
  objects: number
  replicas: number
  beside: string | undefined
  save: boolean
}

export const measurements = [
  'Scale',
  'Replicas',
  'Mails',
  'Memory',
  'Telemetry',
  'Sets',
  'Bytes',
  'Backlog',
  'Floods',
  'Flows',
  'Console',
  'Webhooks',
] as const
export type Measurement = (typeof measurements)[number]

export const usage = `npm run bench -- [options]
  --only NAMES       of ${names.join(',')}
                     or one of these alone: ${measurements.join(', ')}
  --encodings NAMES  of json,grpc,connect
  --seconds N        timed seconds of a round (8)
  --rounds N         rounds of each workload, each after one of the bare chain (3)
  --connections N    requests under way at a time (64)
  --users N          users whose addresses are set (200)
  --objects N        users that Scale loads, with three grants each, and people of Console (100000)
  --replicas N       processes of users, and as many of the gateway (1)
  --beside FOLDER    alternates with another checkout, installed and generated, or with its bundles: FOLDER/dist
  --save             keeps the results in bench/results
`

/** Reads the command line. Throws one Error. */
export function readOptions(args: string[]): Options {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: {
      only: text(names.join(',')),
      encodings: text('json,grpc,connect'),
      seconds: text('8'),
      rounds: text('3'),
      connections: text('64'),
      users: text('200'),
      objects: text('100000'),
      replicas: text('1'),
      beside: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  })
  const measurement = measurements.find((name) => name === values.only)
  return {
    measurement,
    only: measurement ? [] : list('only', values.only, [...names]),
    encodings: list('encodings', values.encodings, ['json', 'grpc', 'connect']),
    seconds: number('seconds', values.seconds),
    rounds: number('rounds', values.rounds),
    connections: number('connections', values.connections),
    users: number('users', values.users),
    objects: number('objects', values.objects),
    replicas: number('replicas', values.replicas),
    beside: values.beside,
    save: values.save,
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
