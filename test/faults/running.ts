import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../deploy/local/ports.ts'
import { startServers, type Servers } from '../../deploy/local/servers.ts'
import { startServices, type Services } from '../../deploy/local/services.ts'
import { provision } from '../../deploy/provision.ts'

/** A Roster of real processes over servers of its own, each of which can be killed. */
export interface Running {
  servers: Servers
  services: Services
  url: string
  adminToken: string
  stop(): Promise<void>
}

/** Starts one as `npm start` does, in a throwaway folder. */
export async function startRunning(): Promise<Running> {
  const servers = await startServers({ ephemeral: true, ports: 'random', env: {}, say: () => {} })
  try {
    const passwords = { users: 'users-password', grants: 'grants-password', idp: 'idp-password' }
    const databaseUrls = await provision(servers.databaseUrl, passwords)
    const adminTokenFile = join(servers.home.dir, 'admin-token')
    const services = await startServices(servers, {
      databaseUrls,
      port: await freePort(0),
      adminTokenFile,
      encryptionKey: randomBytes(32).toString('base64'),
      env: { PATH: process.env['PATH'], SWEEP_INTERVAL: '3', LOG_LEVEL: 'info' },
      backoff: {},
      say: () => {},
    })
    return {
      servers,
      services,
      url: services.url,
      adminToken: readFileSync(adminTokenFile, 'utf8').trim(),
      async stop() {
        await services.stop()
        await servers.stop()
      },
    }
  } catch (error) {
    await servers.stop()
    throw error
  }
}
