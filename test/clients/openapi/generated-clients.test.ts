import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { type OpenApi, operationsOf } from '../../support/openapi.ts'
import { elsewhere, unlessThereIs } from '../build.ts'
import { expectOutcome } from '../outcomes.ts'
import { type Road, roads } from '../roads.ts'
import { newWork, type WorkDone } from '../work.ts'
import { environment } from '../run-commands.ts'
import { build } from './build.ts'

const speaks = 'JSON by OpenAPI'
const jar = 'openapi-generator'

const generators = [
  {
    folder: 'npm',
    needs: ['npm'],
    commands: ['clients from npm'],
    runs: {
      'TypeScript, openapi-typescript': ['node', 'out/openapi-fetch.mjs'],
      'TypeScript, hey-api': ['node', 'out/hey-api.mjs'],
      'TypeScript, orval': ['node', 'out/orval.mjs'],
    },
  },
  { folder: 'oapi-codegen', needs: ['go'], commands: ['oapi-codegen'], runs: { 'Go, oapi-codegen': ['./work'] } },
  {
    folder: 'openapi-python-client',
    needs: ['python3'],
    commands: ['openapi-python-client'],
    runs: { 'Python, openapi-python-client': ['venv/bin/python', 'work.py'] },
  },
  {
    folder: 'openapi-generator-java',
    needs: ['java', 'mvn'],
    commands: [jar, 'openapi-generator for Java'],
    runs: { 'Java, openapi-generator': ['java', '-cp', 'client/target/classes:client/target/dependency/*', 'Work'] },
  },
  {
    folder: 'openapi-generator-go',
    needs: ['java', 'mvn', 'go'],
    commands: [jar, 'openapi-generator for Go'],
    runs: { 'Go, openapi-generator': ['./work'] },
  },
  {
    folder: 'openapi-generator-python',
    needs: ['java', 'mvn', 'python3'],
    commands: [jar, 'openapi-generator for Python'],
    runs: { 'Python, openapi-generator': ['venv/bin/python', 'work.py'] },
  },
]

let document: OpenApi

beforeAll(async () => {
  document = (await (await fetch(`${roads()[0]!.url}/openapi.json`)).json()) as OpenApi
  // Each run has a port of its own, and clients get it as an argument.
  document.servers = [{ url: 'https://roster.example.com' }]
})

describe.each(generators)('a client by $folder', ({ folder, needs, commands, runs }) => {
  // Each takes a minute to build.
  const why = elsewhere || unlessThereIs(...needs)
  const clients = Object.entries<string[]>(runs)

  test.skipIf(why)(`performs the five operations and a search, and reads an error${why}`, async () => {
    const place = await build(folder, JSON.stringify(document), ...commands)
    for (const road of roads())
      for (const [client, command] of clients) {
        const { work, check } = await newWork(road)
        await check(await run(place, command, road, work))
        expectOutcome({ client, speaks }, road.name, 'five operations, search, error')
      }
  })
})

const noPython = elsewhere || unlessThereIs('python3')

test.skipIf(noPython)(`openapi-python-client leaves out no operation, and warns of nothing${noPython}`, async () => {
  const place = await build('openapi-python-client', JSON.stringify(document), 'openapi-python-client')
  expect(readFileSync(join(place, 'said.txt'), 'utf8')).not.toMatch(/warn|unable|skipp|error/i)
  const modules = globSync('client/api/*/*.py', { cwd: place }).filter((file) => !file.endsWith('__init__.py'))
  expect(modules).toHaveLength(operationsOf(document).length)
})

const noJava = unlessThereIs('java', 'mvn')

test.skipIf(noJava)(`openapi-generator gives the request classes of C# every property${noJava}`, async () => {
  const name = 'openapi-generator-csharp'
  const place = await build(name, JSON.stringify(document), jar, 'openapi-generator for C#')
  expect(propertiesOf(place, 'SetEmailBody')).toEqual(['Email', 'SendCode', 'ReturnCode', 'IsVerified'])
  expect(propertiesOf(place, 'SetHumanEmail')).toEqual(['Email', 'SendCode', 'ReturnCode', 'IsVerified'])
  for (const road of roads()) expectOutcome({ client: 'C#, openapi-generator', speaks }, road.name, 'generated')
})

function propertiesOf(place: string, name: string): string[] {
  const [file] = globSync(`client/src/*/Model/${name}.cs`, { cwd: place })
  const source = readFileSync(join(place, file!), 'utf8')
  return [...source.matchAll(/public \S+ (\w+) \{ get; set; \}/g)].map(([, property]) => property!)
}

async function run(place: string, [program, ...args]: string[], road: Road, work: object): Promise<WorkDone> {
  const env = { ...environment, NODE_EXTRA_CA_CERTS: road.certificate }
  const client = spawn(program!, args, { cwd: place, env, stdio: ['pipe', 'pipe', 'inherit'] })
  client.stdin.end(JSON.stringify(work))
  return JSON.parse(await text(client.stdout)) as WorkDone
}
