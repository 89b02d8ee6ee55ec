import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envOf, type Facts, requestOf } from './framework.ts'
import { frameworks } from './frameworks.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const examples = globSync('examples/**/*.*', { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))

const facts: Facts = {
  issuer: 'http://localhost:8080',
  projectId: 'the-project',
  clientId: 'the-client',
  clientSecret: 'the-secret',
  address: '',
  random: 'random'.repeat(8),
}
const factsOf = (address: string): Facts => ({ ...facts, address })

// The page of the documentation, and the name of the application in it.
const pages: Record<string, [string, string]> = {
  express: ['../sign-in', 'Shop'],
  nextjs: ['nextjs', 'Next.js'],
  'auth-express': ['auth-express', 'Auth.js in Express'],
  spring: ['spring-client', 'Spring'],
  aspnet: ['aspnet', 'ASP.NET'],
  flask: ['flask', 'Flask'],
  django: ['flask', 'Django'],
  'oauth2-proxy': ['oauth2-proxy', 'Tool'],
  browser: ['browser', 'Page'],
  'command-line': ['command-line', 'Shop in the terminal'],
}

test.each(Object.entries(pages))('%s is registered as its page of the documentation shows it', (id, [page, name]) => {
  const framework = frameworks[id]!
  const shown = [...read(`docs/sign-in/${page}.md`).matchAll(/-d '(\{[^']*"redirectUris"[^']*\})'/g)]
    .map(([, json]) => JSON.parse(json!) as { name: string })
    .find((request) => request.name === name)
  const request = requestOf(framework, { addresses: [framework.address], back: framework.back, roles: true })
  expect({ name, ...request }).toEqual(shown)
})

test.each(Object.keys(frameworks))('the lines of %s are those of its examples, which tests run', async (id) => {
  const { files, address, env } = frameworks[id]!
  const shown = await files(factsOf(address))
  for (const { text } of shown) expect(text.length).toBeGreaterThan(20)
  // With the addresses of the examples nothing is changed in them, but where two folders become one.
  for (const { text } of shown)
    expect(examples).toContain(
      id === 'auth-express' ? text.replace("'./auth.config.js'", "'../nextjs/auth.config.js'") : text,
    )
  // What the code reads is what the file has; Auth.js, Flask and oauth2-proxy read some by themselves.
  const byThemselves = new Set(['AUTH_SECRET', 'AUTH_URL', 'REDIRECT_URI'])
  const all = shown.map(({ text }) => text).join('\n')
  for (const name of Object.keys(env(factsOf(address))))
    if (!byThemselves.has(name) && shown.length > 0 && !(id === 'nextjs' && name === 'PORT'))
      expect(all, `${id} reads ${name}`).toContain(name)
})

test('an issuer and an address elsewhere take the place of those of the examples', async () => {
  const { files } = frameworks['oauth2-proxy']!
  const elsewhere = { ...facts, issuer: 'https://id.example.com', address: 'https://tool.example.com' }
  const [file] = await files(elsewhere)
  expect(file!.text).toContain('oidc_issuer_url = "https://id.example.com"')
  expect(file!.text).toContain('redirect_url = "https://tool.example.com/oauth2/callback"')
  expect(file!.text).toContain('whitelist_domains = ["id.example.com"]')
})

test('an .env has in quotes what a shell would take apart', () => {
  expect(envOf({ A: 'http://localhost:3000', B: 'a b$c' })).toBe("A=http://localhost:3000\nB='a b$c'\n")
  expect(envOf({ A: "';touch x;'" })).toBe("A=''\\'';touch x;'\\'''\n")
})

test('every address is registered with the path of the framework, and http means development', () => {
  const addresses = ['http://localhost:3000/', 'https://shop.example.com']
  const { redirectUris, postLogoutRedirectUris, devMode } = requestOf(frameworks['nextjs']!, {
    addresses,
    back: '/bye',
    roles: false,
  })
  expect(redirectUris).toEqual([
    'http://localhost:3000/api/auth/callback/roster',
    'https://shop.example.com/api/auth/callback/roster',
  ])
  expect(postLogoutRedirectUris).toEqual(['http://localhost:3000/bye', 'https://shop.example.com/bye'])
  expect(devMode).toBe(true)
  const [, only] = addresses
  expect(requestOf(frameworks['nextjs']!, { addresses: [only!], back: '/', roles: false }).devMode).toBe(undefined)
})
