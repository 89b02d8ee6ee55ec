import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const main = new URL('main.ts', import.meta.url).pathname
const urls = ['--from', 'https://localhost:1', '--to', 'https://localhost:2']

function run(args: string[], env: Record<string, string>, ...options: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [...options, main, ...args], { env, encoding: 'utf8' })
  return { status, stderr }
}

test('a missing package of development is one clear sentence', () => {
  const without = `import { registerHooks } from 'node:module'
    registerHooks({ resolve: (name, context, next) => next(name === '@zitadel/proto/zitadel/admin_pb' ? '@gone/away/x' : name, context) })`
  const hooks = ['--import', `data:text/javascript,${encodeURIComponent(without)}`]
  const { status, stderr } = run(urls, { ZITADEL_TOKEN: 'a', ROSTER_TOKEN: 'b' }, ...hooks)
  expect(stderr).toBe(
    'The package @gone/away is missing, which only development needs: run it in a clone, after npm ci --include=dev.\n',
  )
  expect(status).toBe(2)
})

test('a wrong command line is answered by what is wrong and how to call it', () => {
  const { status, stderr } = run(urls, { ROSTER_TOKEN: 'b' })
  expect(stderr).toMatch(/^--from-token-file is missing\.\n\nnpm run migrate:zitadel -- /)
  expect(status).toBe(2)
})
