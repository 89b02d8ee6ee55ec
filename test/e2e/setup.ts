import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { createLog } from '#lib/log'
import { buildConsole } from '../../console/build/build.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { startHouse } from '../house.ts'
import { startTestServers } from '../infra.ts'
import { startTxtServer } from '../support/upstreams/txt-server.ts'
import { allowedLinkHost, type RunningRoster } from './running.ts'

/**
 * Vitest's global setup of the e2e suite. It uses the system of ROSTER_E2E_URL where that is set, and starts no server.
 * That also takes ROSTER_E2E_ADMIN_TOKEN or _ADMIN_TOKEN_FILE, ROSTER_E2E_ADMIN_PASSWORD or _FILE, and
 * ROSTER_E2E_MAILBOX_URL.
 * Otherwise it starts a house with two of each service, over its own servers.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-e2e-'))
  const secretsFile = join(folder, 'secrets')
  const url = process.env['ROSTER_E2E_URL']
  const { running, stop } = url ? given(url, secretsFile) : await build(folder, secretsFile)
  project.provide('roster', running)
  return async () => {
    await stop()
    await rm(folder, { recursive: true })
  }
}

function given(url: string, secretsFile: string) {
  const adminToken = setting('ROSTER_E2E_ADMIN_TOKEN')
  if (!adminToken) throw new Error('ROSTER_E2E_URL needs ROSTER_E2E_ADMIN_TOKEN or ROSTER_E2E_ADMIN_TOKEN_FILE.')
  const running: RunningRoster = {
    url: new URL(url).origin,
    adminToken,
    adminPassword: setting('ROSTER_E2E_ADMIN_PASSWORD'),
    mailboxUrl: setting('ROSTER_E2E_MAILBOX_URL')?.replace(/\/$/, ''),
    secretsFile,
    house: undefined,
  }
  return { running, stop: async () => {} }
}

async function build(folder: string, secretsFile: string) {
  // The gateways read it when they start.
  await buildConsole()
  const { servers, stop } = await startTestServers()
  const port = String(await freePort(0))
  // A log file with a given name outlives the run.
  const logFile = process.env['ROSTER_E2E_LOG_FILE'] ?? join(folder, 'log')
  const destination = pino.destination({ dest: logFile, sync: true })
  const recordsFile = join(folder, 'records')
  writeFileSync(recordsFile, '{}')
  const names = await startTxtServer((name) => JSON.parse(readFileSync(recordsFile, 'utf8'))[name])
  const settings = {
    PORT: port,
    DNS_SERVERS: names.address,
    DOMAIN_CHECK_INTERVAL: '3',
    DOMAIN_LOST_AFTER: '2',
    PUBLIC_URL: `http://localhost:${port}`,
    EMAIL_LINK_HOSTS: allowedLinkHost,
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
    IDP_ALLOW_PRIVATE: '127.0.0.1',
  }
  const house = await startHouse(servers.serviceDatabaseUrls, settings, {
    servers,
    replicas: 2,
    log: createLog('house', 'debug', destination),
  })
  const running: RunningRoster = {
    url: `http://localhost:${port}`,
    adminToken: house.adminToken,
    adminPassword: house.adminPassword,
    mailboxUrl: servers.mailboxUrl,
    secretsFile,
    house: {
      secondUrl: house.urls[1]!,
      databaseUrl: servers.databaseUrl,
      natsUrl: servers.natsUrl.admin,
      redisUrl: servers.redisUrl,
      logFile,
      recordsFile,
    },
  }
  return {
    running,
    async stop() {
      await house.stop()
      names.stop()
      await stop()
    },
  }
}

function setting(name: string): string | undefined {
  const file = process.env[`${name}_FILE`]
  return process.env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined)
}
