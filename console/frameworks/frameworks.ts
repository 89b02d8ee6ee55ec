import { apis } from './apis.ts'
import { elsewhere } from './elsewhere.ts'
import type { Framework } from './framework.ts'
import { nodeServers } from './node-servers.ts'
import { otherServers } from './other-servers.ts'

/** Every framework by its name in an address. */
export const frameworks: Record<string, Framework> = { ...nodeServers, ...otherServers, ...elsewhere, ...apis }
