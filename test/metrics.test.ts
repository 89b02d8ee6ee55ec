import { randomInt } from 'node:crypto'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { methods } from '#lib/rpc/methods'
import { nameOf } from '#lib/rpc/spans'
import { declared } from '#lib/telemetry/instruments'
import { deriveKeys } from '../deploy/derive-keys.ts'
import { projectRoot } from '../deploy/local/home.ts'
import { freePort } from '../deploy/local/ports.ts'
import { serviceNames } from '../deploy/local/service-environment.ts'
import { makeCertificate } from '../services/gateway/testing/certificate.ts'
import type { Operation } from './examples/contract.ts'
import { callJson } from './e2e/clients/json.ts'
import { type Running, startRunning } from './faults/running.ts'
import { type Exposed, readExposition, tableOf } from './metrics/exposition.ts'
import { expectPart } from './support/expect-part.ts'
import { startTestReceiver } from './support/receiver.ts'
import '../lib/events/measures.ts'
import '../lib/telemetry/process-measures.ts'
import '../lib/limits-hit.ts'
import '../services/gateway/measures.ts'
import '../services/notifier/measures.ts'
import '../services/users/service.ts'

let running: Running
let firstPort: number
let tlsPort: number
const begun: (() => Promise<unknown> | void)[] = []
const persons: string[] = []

beforeAll(async () => {
  // Five in a row, where `freePort` takes none.
  firstPort = randomInt(30_000, 32_000)
  running = await startRunning({
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(firstPort),
  })
  begun.push(() => running.stop())
  tlsPort = await startTlsGateway()
  await useAll()
}, 120_000)

afterAll(async () => {
  for (const stop of begun.toReversed()) await stop()
})

test('docs/operations.md lists the metrics that processes expose, and no others', async () => {
  const known = await exposed()
  expectPart('operations.md', 'metrics', tableOf(known.values(), serviceNames))
})

test('each declared metric is exposed, and no other one', async () => {
  const names = declared.map(({ name, kind }) => name.replaceAll('.', '_') + (kind === 'counter' ? '_total' : ''))
  expect([...(await exposed()).keys()].toSorted()).toEqual(names.toSorted())
})

test('each label has few values: the listed ones, or names of operations, services and pages', async () => {
  const known = await exposed()
  const operations = new Set([...methods.keys()].map(nameOf))
  const words: Record<string, (value: string) => boolean> = {
    operation: (value) => operations.has(value) || /^zitadel\.[\w.]+\/\w+$/.test(value),
    service: (value) => (serviceNames as readonly string[]).includes(value),
    page: (value) => /^(\/healthz|\/readyz|\/docs)$/.test(value),
    status: (value) => /^\d{3}$/.test(value),
    follower: (value) => /^[a-z-]{1,40}$/.test(value),
  }
  for (const { name, kind, labels } of declared) {
    const metric = known.get(name.replaceAll('.', '_') + (kind === 'counter' ? '_total' : ''))!
    for (const [label, list] of Object.entries(labels))
      for (const value of metric.labels.get(label.replaceAll('.', '_')) ?? []) {
        const fits = value === '_OTHER' || (typeof list === 'string' ? words[list]!(value) : list.includes(value))
        expect([name, label, value, fits]).toEqual([name, label, value, true])
      }
  }
})

test('no metric names a person, an organization, a token or a path of a client', async () => {
  const texts = await Promise.all([...serviceNames.keys()].map((index) => scrape(firstPort + index)))
  for (const person of [...persons, running.adminToken]) expect(texts.join('\n')).not.toContain(person)
})

test('the port of the gateway does not have the metrics', async () => {
  expect((await fetch(`${running.url}/metrics`)).status).toBe(404)
})

test('without the variable, no process opens a port for metrics', async () => {
  const quiet = spawnGateway({ OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort(0)) })
  await quiet.listening
  await expect(fetch(`http://localhost:${quiet.port}/metrics`)).rejects.toThrow()
})

async function exposed(): Promise<Map<string, Exposed>> {
  const known = new Map<string, Exposed>()
  for (const [index, name] of serviceNames.entries()) readExposition(await scrape(firstPort + index), name, known)
  readExposition(await scrape(tlsPort), 'gateway', known)
  return known
}

async function scrape(port: number): Promise<string> {
  return (await fetch(`http://localhost:${port}/metrics`)).text()
}

/** A gateway of its own, for what only some have. */
function spawnGateway(settings: Record<string, string>) {
  const { servers } = running
  const child = spawn(process.execPath, [join(projectRoot, 'services/gateway/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      NATS_URL: servers.natsUrl.gateway,
      NATS_KEEPER_URL: servers.natsUrl.keeper,
      PORT: '0',
      ...deriveKeys(Buffer.alloc(32).toString('base64')).gateway,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  begun.push(() => void child.kill('SIGKILL'))
  const listening = new Promise<void>((resolve) =>
    child.stdout.on('data', (chunk) => String(chunk).includes('listening') && resolve()),
  )
  return { port: settings['OTEL_EXPORTER_PROMETHEUS_PORT'], listening }
}

async function startTlsGateway(): Promise<number> {
  const { cert, key, remove } = makeCertificate()
  begun.push(remove)
  const port = await freePort(0)
  const { listening } = spawnGateway({
    TLS_CERT_FILE: cert,
    TLS_KEY_FILE: key,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  })
  await listening
  return port
}

/** Brings every part of Roster to work, so that each metric has a value. */
async function useAll(): Promise<void> {
  const { url, adminToken: token } = running
  const receiver = await startTestReceiver()
  begun.push(() => receiver.stop())
  receiver.answer(() => 200)
  const act = async (operation: Operation, request: JsonObject) => {
    const answer = await callJson(operation, request, { url, token })
    if (answer.error) throw new Error(`${operation}: ${JSON.stringify(answer.error)}`)
    return answer.ok
  }
  await act('AddWebhook', { url: receiver.url, allOrganizations: true })
  const address = 'metrics-person@example.com'
  const { userId } = await act('AddHumanUser', {
    userName: 'metrics-person',
    profile: { firstName: 'Metrica', lastName: 'Persona' },
    email: { email: address },
  })
  await act('AddOIDCIDP', {
    name: 'metrics-provider',
    clientId: 'c',
    clientSecret: 's',
    issuer: 'https://issuer.example.com',
    scopes: ['openid'],
  })
  const { organizationId } = await act('AddOrganization', { name: 'metrics-organization' })
  await callJson('GetUser', { userId: 'no-one-of-metrics' }, { url, token })
  await callJson('GetUser', { userId }, { url, token: 'no-token-of-metrics' })
  await callJson('GetUser', { userId }, { url, token, organization: organizationId })
  const { mails } = running.servers.mailbox!
  while (mails.list().length === 0 || receiver.received.length === 0) await sleep(20)
  await act('DeleteUser', { userId })
  await fetch(`${url}/unknown-path-of-metrics`)
  await fetch(`${url}/docs`)
  persons.push(address, userId, organizationId, 'metrics-', 'Metrica', 'of-metrics', 'example.com')
  // Some numbers are looked at every few seconds.
  const known = new Set<string>()
  for (const stop = Date.now() + 20_000; known.size < declared.length && Date.now() < stop; await sleep(200))
    for (const name of (await exposed()).keys()) known.add(name)
}
