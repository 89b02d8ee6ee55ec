import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { LongestFirst, SlowFiles } from './test/slow-files.ts'
import { counting, secondTier } from './test/tiers.ts'
import { workers } from './test/workers.ts'

// Whatever a test waits for: see test/patience.ts.
export const patience = { setupFiles: './test/patience.ts', expect: { poll: { timeout: 20_000 } } }

const never = ['node_modules', '.roster/**']
/** Files that share the servers of the run. */
export const sharing = {
  globalSetup: './test/infra.ts',
  setupFiles: [patience.setupFiles, './test/claim-nats.ts'],
}

export const withServers = {
  ...patience,
  ...sharing,
  testTimeout: 60_000,
  // A house that is not ready says why after 100 s.
  hookTimeout: 120_000,
  maxWorkers: workers,
  sequence: { groupOrder: 1 },
}

/** The projects of both tiers, without the files that `left` names. */
export function projects(left: string[]): TestProjectConfiguration[] {
  return [
    {
      test: {
        name: 'unit',
        ...patience,
        include: ['**/*.test.ts'],
        exclude: [
          ...never,
          '**/*.integration.test.ts',
          '**/*.browser.test.ts',
          'test/{e2e,faults,outages,restore,upgrade,clients,mail-servers}/**',
          'test/alerts/alerts.test.ts',
          'test/*.test.ts',
        ],
        // Some compute for seconds, and the machine may have other work.
        testTimeout: 30_000,
        // To load everything anew for each file takes longer than all tests.
        isolate: false,
      },
    },
    {
      test: {
        name: 'servers',
        ...withServers,
        include: ['**/*.integration.test.ts', '**/*.browser.test.ts', 'test/*.test.ts'],
        exclude: [...never, ...counting, ...left],
        isolate: false,
      },
    },
    { test: { name: 'counting', ...withServers, include: counting, exclude: [...never, ...left] } },
    {
      test: {
        name: 'e2e',
        ...patience,
        include: ['test/e2e/**/*.test.ts'],
        exclude: [...never, ...left],
        globalSetup: './test/e2e/setup.ts',
        testTimeout: 60_000,
        hookTimeout: 60_000,
        isolate: false,
        // After the other projects, which would take the processors from what is timed here.
        sequence: { groupOrder: 2 },
        maxWorkers: workers,
      },
    },
  ]
}

/** The first tier, `npm test`. */
export default defineConfig({
  test: {
    projects: projects(secondTier),
    reporters: ['default', new SlowFiles()],
    sequence: { sequencer: LongestFirst },
  },
})
