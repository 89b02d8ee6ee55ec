import { defineConfig, mergeConfig } from 'vitest/config'
import first, { patience } from './vitest.config.ts'

/** The second tier, `npm run test:all`: every test of `npm test`, and clients and mail servers that others wrote. */
export default mergeConfig(
  first,
  defineConfig({
    test: {
      projects: [
        {
          test: {
            name: 'clients',
            ...patience,
            include: ['test/clients/**/*.test.ts'],
            globalSetup: './test/clients/setup.ts',
            // A first run downloads and compiles what the tools of another language need.
            testTimeout: 600_000,
            hookTimeout: 900_000,
            // Compilers take both processors, and files write one table.
            fileParallelism: false,
            sequence: { groupOrder: 5 },
          },
        },
        {
          test: {
            name: 'mail-servers',
            ...patience,
            include: ['test/mail-servers/**/*.test.ts'],
            globalSetup: './test/infra.ts',
            testTimeout: 180_000,
            hookTimeout: 180_000,
            sequence: { groupOrder: 6 },
          },
        },
      ],
    },
  }),
)
