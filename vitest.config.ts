import { defineConfig } from 'vitest/config'
import { workers } from './test/workers.ts'

const unit = {
  include: ['**/*.test.ts'],
  exclude: [
    'node_modules',
    '.roster/**',
    '**/*.integration.test.ts',
    '**/*.browser.test.ts',
    'test/{e2e,faults,upgrade,clients,mail-servers}/**',
    'test/alerts/alerts.test.ts',
    'test/*.test.ts',
  ],
  // Some compute for seconds, and the machine may have other work.
  testTimeout: 30_000,
  // To load everything anew for each file takes longer than all tests.
  isolate: false,
}

// Whatever a test waits for: see test/patience.ts.
export const patience = { setupFiles: './test/patience.ts', expect: { poll: { timeout: 20_000 } } }

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', ...patience, ...unit } },
      {
        test: {
          name: 'servers',
          ...patience,
          include: ['**/*.integration.test.ts', '**/*.browser.test.ts', 'test/*.test.ts'],
          exclude: ['node_modules', '.roster/**', 'test/{e2e,faults,upgrade}/**'],
          globalSetup: './test/infra.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
          maxWorkers: workers,
        },
      },
      {
        test: {
          name: 'e2e',
          ...patience,
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: './test/e2e/setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          isolate: false,
          // After the other projects, which would take the processors from what is timed here.
          sequence: { groupOrder: 2 },
          maxWorkers: workers,
        },
      },
      {
        test: {
          name: 'faults',
          ...patience,
          include: ['test/faults/**/*.test.ts', 'test/alerts/alerts.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // Alone, since it holds calls to their deadlines.
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'upgrade',
          ...patience,
          include: ['test/upgrade/**/*.test.ts'],
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
