import { execFileSync, spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { descriptorSet } from '#lib/registry'
import { build, documentedCommands, unlessThereIs } from '../build.ts'
import { isLong } from '../../support/long.ts'
import { expectOutcome } from '../outcomes.ts'
import { roads } from '../roads.ts'
import { environment } from '../run-commands.ts'
import { newWork, type WorkDone } from '../work.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const proto = Object.fromEntries(
  globSync('proto/**/*.proto', { cwd: root }).map((file) => [file, readFileSync(root + file, 'utf8')]),
)

const languages = [
  {
    language: 'TypeScript',
    needs: ['npm'],
    compile: 'tsc -p .',
    clients: [
      { client: 'protoc-gen-es', speaks: 'Connect', run: ['node', 'client.ts', 'Connect'] },
      { client: 'protoc-gen-es', speaks: 'gRPC', run: ['node', 'client.ts', 'gRPC'] },
      { client: 'protoc-gen-es', speaks: 'gRPC-web', run: ['node', 'client.ts', 'gRPC-web'] },
    ],
  },
  {
    language: 'Go',
    needs: ['go'],
    compile: 'go build -o bin/ ./...',
    clients: [
      { client: 'grpc-go', speaks: 'gRPC', run: ['bin/grpc'] },
      { client: 'connect-go', speaks: 'Connect', run: ['bin/connect', 'Connect'] },
      { client: 'connect-go', speaks: 'gRPC', run: ['bin/connect', 'gRPC'] },
      { client: 'connect-go', speaks: 'gRPC-web', run: ['bin/connect', 'gRPC-web'] },
    ],
  },
  {
    language: 'Java',
    needs: ['java', 'mvn'],
    compile: '',
    clients: [
      { client: 'grpc-java', speaks: 'gRPC', run: ['java', '-cp', 'target/classes:target/dependency/*', 'Client'] },
    ],
  },
  {
    language: 'Python',
    needs: ['python3'],
    compile: '',
    clients: [{ client: 'grpcio', speaks: 'gRPC', run: ['.venv/bin/python', 'client.py'] }],
  },
]

const compilesForMinutes = isLong ? '' : ' (skipped in CI: compilers take minutes)'

describe.each(languages)('a client in $language, made of proto/', ({ language, needs, compile, clients }) => {
  const why = unlessThereIs(...needs) || (language === 'TypeScript' ? '' : compilesForMinutes)

  test.skipIf(why).each(clients)(
    `performs the five operations and a search, and reads an error: $client, $speaks${why}`,
    async ({ client, speaks, run }) => {
      const folder = await buildFromProto(language, compile)
      for (const road of roads()) {
        const { work, check } = await newWork(road)
        await check(await perform(folder, run, work))
        expectOutcome({ client: `${language}, ${client}`, speaks }, road.name, 'five operations, search, error')
      }
    },
  )
})

const noGo = unlessThereIs('go') || compilesForMinutes

test.skipIf(noGo)(`the copies of third-party files agree with those that a Go program links${noGo}`, async () => {
  const folder = await buildFromProto('Go', languages[1]!.compile)
  const said = execFileSync('bin/copies', { cwd: folder, input: descriptorSet, encoding: 'utf8' })
  expect(said.trim().split('\n').toSorted()).toEqual([
    'buf/validate/validate.proto',
    'google/api/annotations.proto',
    'google/api/http.proto',
    'google/rpc/error_details.proto',
    'google/rpc/status.proto',
  ])
})

const noProtoc = unlessThereIs('protoc')

test.skipIf(noProtoc)(`messages in C# are made of proto/, and use the official packages${noProtoc}`, async () => {
  const folder = await buildFromProto('C#', '')
  const bulk = readFileSync(join(folder, 'gen/Roster/Object/V1/Bulk.cs'), 'utf8')
  expect(bulk).toMatch(/namespace Roster\.Object\.V1 \{/)
  expect(bulk).toMatch(/public global::Google\.Rpc\.Status Error /)
  expect(globSync('gen/*', { cwd: folder })).toEqual(['gen/Roster'])
  for (const road of roads())
    expectOutcome({ client: 'C#, protoc', speaks: 'gRPC' }, road.name, 'messages generated, none sent')
})

function buildFromProto(language: string, compile: string): Promise<string> {
  const folder = `proto/${language.toLowerCase().replace('#', 'sharp')}`
  return build(folder, proto, `${documentedCommands(`${language} from proto`)}\n${compile}`)
}

async function perform(cwd: string, [program, ...options]: string[], work: object): Promise<WorkDone> {
  const client = spawn(program!, options, { cwd, env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
  client.stdin.end(JSON.stringify(work))
  return JSON.parse(await text(client.stdout)) as WorkDone
}
