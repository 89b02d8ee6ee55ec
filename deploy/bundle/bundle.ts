import { cpSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { buildConsole, consolePackages } from '../../console/build/build.ts'
import { licences } from './licences.ts'

const root = resolve(import.meta.dirname, '../..')

// The programs of the image, each by the file that it begins with.
const programs: Record<string, string> = {
  ...Object.fromEntries(globSync('services/*/main.ts', { cwd: root }).map((file) => [basename(dirname(file)), file])),
  // Not a program, but loaded by the services whose telemetry is on: they share one file.
  telemetry: 'lib/telemetry/sdk.ts',
  ...Object.fromEntries(['provision', 'healthcheck', 'compose-keys', 'derive-keys'].map((n) => [n, `deploy/${n}.ts`])),
  roster: 'operator/main.ts',
}

// The files that programs read at run time.
const readAtRunTime = [
  'package.json',
  'gen/*.binpb',
  '{lib,services}/**/*.{sql,html,txt,css,js}',
  'node_modules/swagger-ui-dist/{package.json,swagger-ui.css,swagger-ui-bundle.js}',
  'node_modules/grpc-health-check/proto/**/*.proto',
  'console/dist/index.html*',
  'console/dist/assets/*',
]

/**
 * Makes a folder with one file for each program, which holds all that the program imports. The files that programs
 * read lie beside them, under the paths that they have here. Nothing else is needed to run them. Further plugins may
 * change the programs.
 */
export async function bundle(folder: string, plugins: Plugin[] = []): Promise<void> {
  const draft = `${folder}.${process.pid}.new`
  const [imported] = await Promise.all([
    Promise.all(Object.entries(programs).map(([name, file]) => bundleProgram(name, join(root, file), draft, plugins))),
    buildConsole(),
  ])
  const read = globSync(readAtRunTime, { cwd: root })
  for (const file of read) {
    mkdirSync(dirname(join(draft, file)), { recursive: true })
    cpSync(join(root, file), join(draft, file))
  }
  writeFileSync(join(draft, 'LICENSES.txt'), licences(root, [...imported.flat(), ...consolePackages(), ...read]))
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
}

// Returns the files that the bundle holds.
async function bundleProgram(name: string, main: string, folder: string, plugins: Plugin[]): Promise<string[]> {
  const build = await rolldown({
    input: { [name]: main },
    platform: 'node',
    plugins: [shareTelemetry, keepPlaces(main), mapOwnFiles, ...plugins],
  })
  const { output } = await build.write({
    dir: folder,
    entryFileNames: '[name].mjs',
    codeSplitting: false,
    banner: 'const _bundle = import.meta.dirname',
    // Names stay: a stack shows them.
    minify: { compress: true, mangle: false, codegen: true },
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
  await build.close()
  const modules = output.flatMap((chunk) => ('modules' in chunk ? Object.keys(chunk.modules) : []))
  return modules.map((file) => relative(root, file))
}

// Only a service whose telemetry is on loads the file, so no bundle holds what is in it.
const shareTelemetry: Plugin = {
  name: 'share-telemetry',
  resolveId: {
    filter: { id: /\/sdk\.ts$/ },
    handler: (id) => (id === './sdk.ts' ? { id: './telemetry.mjs', external: true } : null),
  },
}

// A file finds its neighbours as it does here: it believes to lie at its old path, below the folder of the bundle.
function keepPlaces(main: string): Plugin {
  return {
    name: 'keep-places',
    transform: {
      filter: { code: /import\.meta\.(url|dirname|main)|__dirname/ },
      handler(code, file) {
        const place = relative(root, file)
        const placed = code
          .replaceAll('import.meta.main', String(file === main))
          .replaceAll(/import\.meta\.dirname|__dirname/g, `(_bundle + '/${dirname(place)}')`)
          .replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`)
        return { code: placed, map: null }
      },
    },
  }
}

// A stack shows lines of our own files. Maps of packages and of generated code would be ten times as large, and Node
// reads a map as a whole.
const mapOwnFiles: Plugin = {
  name: 'map-own-files',
  transform: {
    filter: { id: /\/(node_modules|gen)\// },
    handler: (code) => ({ code, map: { version: 3, sources: [], names: [], mappings: '' } }),
  },
}

if (import.meta.main) await bundle(resolve(process.argv[2] ?? join(root, 'dist')))
