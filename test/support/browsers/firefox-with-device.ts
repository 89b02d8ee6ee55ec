import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { firefoxPath } from './firefox.ts'

const settings = {
  'marionette.port': 0,
  // The authenticators of this file are the only ones.
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
}

export type FirefoxWithDevice = Awaited<ReturnType<typeof openFirefoxWithDevice>>

/**
 * A Firefox with a virtual authenticator, driven by its own protocol (Marionette): WebDriver BiDi has no commands for
 * authenticators yet. Its person touches it at once.
 */
export async function openFirefoxWithDevice() {
  const profile = await mkdtemp(join(tmpdir(), 'roster-firefox-'))
  const lines = Object.entries(settings).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});`)
  await writeFile(join(profile, 'user.js'), lines.join('\n'))
  const args = ['--headless', '--no-remote', '--marionette', '--profile', profile, 'about:blank']
  const browser = spawn(firefoxPath, args, { stdio: 'ignore', env: { ...process.env, HOME: profile } })
  const ended = once(browser, 'exit')
  const { send, close } = await connect(await portOf(profile))
  await send('WebDriver:NewSession', { capabilities: { alwaysMatch: {} } })
  const { value: authenticatorId } = await send('WebAuthn:AddVirtualAuthenticator', {
    protocol: 'ctap2',
    transport: 'usb',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserConsenting: true,
    isUserVerified: true,
  })
  return { go, evaluate, fill, click, forget, credentials, verifies, stop }

  async function go(url: string) {
    await send('WebDriver:Navigate', { url })
  }
  async function evaluate(expression: string): Promise<any> {
    return (await send('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] })).value
  }
  async function find(selector: string): Promise<string> {
    const { value } = await send('WebDriver:FindElement', { using: 'css selector', value: selector })
    return Object.values(value)[0] as string
  }
  async function fill(selector: string, text: string) {
    await send('WebDriver:ElementSendKeys', { id: await find(selector), text })
  }
  async function click(selector: string) {
    await send('WebDriver:ElementClick', { id: await find(selector) })
  }
  /** Forgets who is signed in. */
  async function forget() {
    await send('WebDriver:DeleteAllCookies', {})
  }
  async function credentials(): Promise<unknown[]> {
    return (await send('WebAuthn:GetCredentials', { authenticatorId })).value
  }
  async function verifies(isUserVerified: boolean) {
    await send('WebAuthn:SetUserVerified', { authenticatorId, isUserVerified })
  }
  async function stop() {
    close()
    browser.kill()
    await ended
    await rm(profile, { recursive: true, maxRetries: 5 })
  }
}

async function portOf(profile: string): Promise<number> {
  for (let tries = 0; tries < 300; tries++) {
    const text = await readFile(join(profile, 'MarionetteActivePort'), 'utf8').catch(() => '')
    if (text !== '') return Number(text)
    await pause(100)
  }
  throw new Error('Firefox does not listen')
}

// Each message is its length, a colon, and JSON.
async function connect(port: number) {
  const socket = createConnection(port, '127.0.0.1')
  const waiting = new Map<number, (answer: any[]) => void>()
  let [last, rest] = [0, Buffer.alloc(0)]
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (let colon = rest.indexOf(':'); colon > 0; colon = rest.indexOf(':')) {
      const end = colon + 1 + Number(rest.subarray(0, colon))
      if (rest.length < end) return
      const message = JSON.parse(rest.subarray(colon + 1, end).toString())
      rest = rest.subarray(end)
      if (Array.isArray(message)) waiting.get(message[1])?.(message)
    }
  })
  await once(socket, 'connect')
  return { send, close: () => socket.destroy() }

  async function send(command: string, parameters: object): Promise<any> {
    const id = ++last
    const [, , error, result] = await new Promise<any[]>((resolve) => {
      waiting.set(id, resolve)
      const text = JSON.stringify([0, id, command, parameters])
      socket.write(`${Buffer.byteLength(text)}:${text}`)
    })
    if (error) throw new Error(`${command}: ${error.error}: ${error.message}`)
    return result
  }
}
