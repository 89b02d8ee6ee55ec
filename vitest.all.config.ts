import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { LongestFirst } from './test/slow-files.ts'
import { waiting } from './test/tiers.ts'
import { waitingWorkers } from './test/workers.ts'
import { patience, projects, sharing, withServers } from './vitest.config.ts'

// Programs that others wrote, the former release, outages and retries. They wait much, so more of them run beside each
// other. Files that renew the table in docs/clients.md write it one after another.
const patient = {
  maxWorkers: process.argv.some((word) => /^(-u|--update)\b/.test(word)) ? 1 : waitingWorkers,
  sequence: { groupOrder: 4 },
}

/** Clients that others wrote. */
export const clients: TestProjectConfiguration = {
  test: {
    name: 'clients',
    ...patience,
    include: ['test/clients/**/*.test.ts'],
    globalSetup: './test/clients/setup.ts',
    // A first run downloads and compiles what the tools of another language need.
    testTimeout: 600_000,
    hookTimeout: 900_000,
    ...patient,
  },
}

/** The second tier, `npm run test:all`: every test, each scenario in every encoding, and programs that others wrote. */
export default defineConfig({
  test: {
    env: { ROSTER_TEST_TIER: 'all', ROSTER_TEST_LONG: process.env['ROSTER_TEST_LONG'] ?? '1' },
    sequence: { sequencer: LongestFirst },
    projects: [
      ...projects(waiting),
      { test: { name: 'waiting', ...withServers, include: waiting, isolate: false, ...patient } },
      {
        test: {
          name: 'faults',
          ...patience,
          include: ['test/faults/faults.test.ts', 'test/alerts/alerts.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // Alone, since it holds calls to their deadlines.
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          // They wait for what must come, however late.
          name: 'patient-faults',
          ...patience,
          include: ['test/faults/{refresh-tabs,removal-steps}.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          ...patient,
        },
      },
      {
        test: {
          name: 'upgrade',
          ...patience,
          include: ['test/upgrade/**/*.test.ts'],
          ...patient,
        },
      },
      clients,
      {
        test: {
          name: 'mail-servers',
          ...patience,
          ...sharing,
          include: ['test/mail-servers/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          ...patient,
        },
      },
    ],
  },
})
