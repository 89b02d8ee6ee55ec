import { defineConfig } from 'vitest/config'
import { patience, sharing } from './vitest.config.ts'

/** Backups and restores at the size of a small installation, `npm run test:restore`: before a release, or each month. */
export default defineConfig({
  test: {
    ...patience,
    include: ['test/restore/**/*.test.ts'],
    ...sharing,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // They are measured.
    maxWorkers: 1,
  },
})
