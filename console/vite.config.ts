import { join } from 'node:path'
import { defineConfig } from 'vite'
import { keepFormer } from './build/keep-former.ts'
import { listPackages } from './build/list-packages.ts'
import { precompress } from './build/precompress.ts'
import { preloadView } from './build/preload-view.ts'

// `npm run console` serves the sources beside a gateway that runs: it hands everything but the console's files to it.
const gateway = process.env['CONSOLE_GATEWAY'] ?? 'http://localhost:8080'
const handedOn = '^/(roster\\.|ui/(?!console($|/))|ui/console/(session|sign-in|sign-out|callback)|oauth/|logout)'

export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/console/',
  // Nothing is read from the environment.
  envPrefix: 'ROSTER_CONSOLE_PUBLIC_',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [
    preloadView(import.meta.dirname),
    precompress(),
    keepFormer(),
    listPackages(join(import.meta.dirname, '..')),
  ],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Small enough for one request; a view's own file would be one more.
    cssCodeSplit: false,
    // A file inside of another one would be a data: address, which the policy forbids.
    assetsInlineLimit: 0,
    // What a former release's pages still ask for stays: keep-former.ts.
    emptyOutDir: false,
    reportCompressedSize: false,
    manifest: true,
    rolldownOptions: {
      output: {
        // The gateway lets browsers keep what has such a hash in its name.
        hashCharacters: 'hex',
        entryFileNames: 'assets/[name].[hash].js',
        chunkFileNames: 'assets/[name].[hash].js',
        assetFileNames: 'assets/[name].[hash][extname]',
        // What two views share is one file, so that the first view takes few requests: the budget's test looks at it.
        codeSplitting: { groups: [{ name: 'frame', minShareCount: 2 }] },
      },
    },
  },
  server: { proxy: { [handedOn]: { target: gateway, changeOrigin: true, headers: { origin: gateway } } } },
})
