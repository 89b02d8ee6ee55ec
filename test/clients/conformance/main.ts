import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../../../deploy/local/home.ts'

/** Files that the gateway gets instead of its own: the suite asks for what Roster does not offer. */
const replaced = new Map(
  Object.entries({
    // The suite's service is one of those that the gateway offers, and the question to NATS is put to it.
    'lib/registry.ts': 'registry.ts',
    'lib/rpc/methods.ts': 'methods.ts',
    'lib/rpc/call.ts': 'call.ts',
    'services/gateway/call/perform-stream.ts': 'perform-stream.ts',
    // Its answers have headers, trailers and details of the suite's choice, and its streams may end well.
    'services/gateway/protocols/http-handler.ts': 'http-handler.ts',
    'services/gateway/protocols/grpc/serve.ts': 'grpc.ts',
    'services/gateway/protocols/frames.ts': 'frames.ts',
    'lib/status.ts': 'status.ts',
    // It returns to the suite the timeout that the gateway read.
    'services/gateway/protocols/timeout.ts': 'timeout.ts',
  }).map(([file, own]) => [String(pathToFileURL(`${projectRoot}/${file}`)), String(new URL(own, import.meta.url))]),
)
const here = String(new URL('./', import.meta.url))

// The files here import the gateway's own ones.
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const own = context.parentURL?.startsWith(here) ? undefined : replaced.get(found.url)
    return own === undefined ? found : { ...found, url: own }
  },
})

await import('./serve.ts')
