import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const firefoxPath = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr'

export const hasFirefox = existsSync(firefoxPath)

export type Firefox = Awaited<ReturnType<typeof openFirefox>>

/** A Firefox with an empty profile and one tab, driven by WebDriver BiDi: as the browser alone can, with its own keys. */
export async function openFirefox() {
  const profile = await mkdtemp(join(tmpdir(), 'roster-firefox-'))
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank']
  const browser = spawn(firefoxPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  })
  const ended = once(browser, 'exit')
  const { send, close } = await connect(`${await addressOf(browser.stderr)}/session`)
  await send('session.new', { capabilities: {} })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  return { go, back, type, click, read, cookies, stop }

  async function go(url: string) {
    await send('browsingContext.navigate', { context, url, wait: 'complete' })
  }
  async function back() {
    await send('browsingContext.traverseHistory', { context, delta: -1 })
  }
  /** Presses the keys of a text, one after the other. */
  async function type(text: string) {
    const actions = [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })))
    await send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions }] })
  }
  async function click(selector: string) {
    const locator = { type: 'css', value: selector }
    const { nodes } = await send('browsingContext.locateNodes', { context, locator })
    const origin = { type: 'element', element: { sharedId: nodes[0].sharedId } }
    const actions = [
      { type: 'pointerMove', x: 0, y: 0, origin },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions }] })
  }
  /** The heading of the page, or all that it says where it has none. */
  async function read(): Promise<string> {
    const expression = `(document.querySelector('h1') ?? document.body)?.textContent.trim() ?? ''`
    const { result } = await send('script.evaluate', { expression, target: { context }, awaitPromise: false })
    return result?.value ?? ''
  }
  async function cookies(): Promise<{ name: string; httpOnly: boolean; sameSite: string }[]> {
    return (await send('storage.getCookies', {})).cookies
  }
  async function stop() {
    close()
    browser.kill()
    await ended
    await rm(profile, { recursive: true, maxRetries: 5 })
  }
}

/** Keys without a letter, as WebDriver names them. */
export const keys = { enter: '\ue007', tab: '\ue004' }

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) {
      output.resume()
      return address
    }
  }
  throw new Error('Firefox ended before it listened')
}

async function connect(address: string) {
  const socket = new WebSocket(address)
  const waiting = new Map<number, (answer: any) => void>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data))
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  await once(socket, 'open')
  return { send, close: () => socket.close() }

  async function send(method: string, params: object): Promise<any> {
    const id = ++last
    const answer = await new Promise<any>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    if (answer.type === 'error') throw new Error(`${method}: ${answer.error}: ${answer.message}`)
    return answer.result
  }
}
