import { defineConfig } from 'vitest/config'

const unit = {
  include: ['**/*.test.ts'],
  exclude: ['node_modules', '**/*.integration.test.ts', '**/*.browser.test.ts', 'test/**'],
}

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', ...unit } },
      {
        test: {
          name: 'servers',
          include: ['**/*.integration.test.ts', '**/*.browser.test.ts', 'test/**/*.test.ts'],
          exclude: ['node_modules'],
          globalSetup: './test/infra.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
