import { defineConfig } from 'vitest/config'
import { patience } from './vitest.config.ts'

/** `npm run test:outages`: what happens to machines rather than to processes. Each file has the machine for itself. */
export default defineConfig({
  test: {
    ...patience,
    name: 'outages',
    include: ['test/outages/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 180_000,
  },
})
