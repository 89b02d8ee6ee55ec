import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { freePort } from '../../deploy/local/ports.ts'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import { houseKeys, startHouse } from '../house.ts'
import { startTestServers } from '../infra.ts'
import { startProxy, withoutProxy } from '../support/proxies.ts'
import { findWithoutRegistry } from './registries.ts'
import type { Road } from './roads.ts'
import '../e2e/running.ts'

/** Vitest's global setup: one Roster with a gateway for each road to it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-clients-'))
  const { cert, key, remove } = makeCertificate()
  const withoutRegistry = findWithoutRegistry()
  const { servers, stop } = await startTestServers()
  const [plain, tls, proxied] = [String(await freePort(0)), String(await freePort(0)), String(await freePort(0))]
  const url = `http://localhost:${plain}`
  const house = await startHouse(
    servers.serviceDatabaseUrls,
    { PORT: plain, PUBLIC_URL: url },
    {
      servers,
      moreGateways: [
        { PORT: tls, TLS_CERT_FILE: cert, TLS_KEY_FILE: key },
        { PORT: proxied, TRUSTED_PROXIES: '1' },
      ],
    },
  )
  const gateway = `127.0.0.1:${proxied}`
  const nginx = withoutProxy('nginx') ? undefined : await startProxy('nginx', [gateway], { cert, key })
  const roads: Road[] = [
    { name: 'plain', url, certificate: '' },
    { name: 'TLS', url: `https://localhost:${tls}`, certificate: cert },
  ]
  if (nginx) roads.push({ name: 'behind nginx', url: nginx.url, certificate: cert })
  project.provide('roads', roads)
  project.provide('withoutRegistry', await withoutRegistry)
  const { gateway: NATS_URL, keeper: NATS_KEEPER_URL } = servers.natsUrl
  const environment = { NATS_URL, NATS_KEEPER_URL, PUBLIC_URL: url, TRUSTED_PROXIES: '1', ...houseKeys.gateway }
  project.provide('behindProxies', { gateway, environment, cert, key })
  project.provide('roster', {
    url,
    adminToken: house.adminToken,
    adminPassword: house.adminPassword,
    mailboxUrl: servers.mailboxUrl,
    secretsFile: join(folder, 'secrets'),
    house: undefined,
  })
  return async () => {
    await nginx?.stop()
    await house.stop()
    await stop()
    remove()
    await rm(folder, { recursive: true })
  }
}
