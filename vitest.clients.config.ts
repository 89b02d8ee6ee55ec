import { defineConfig } from 'vitest/config'
import { clients } from './vitest.all.config.ts'

/** `npm run test:clients`: clients that others wrote, also those that take minutes. Before a release. */
export default defineConfig({ test: { env: { ROSTER_TEST_CLIENTS: '1' }, projects: [clients] } })
