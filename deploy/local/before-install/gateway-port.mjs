// Also runs before anything is installed: plain JavaScript without dependencies, for any Node from 20 on.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename } from 'node:path'

/**
 * The port of the gateway: PORT, or 8080. Throws one sentence where it is no port, or where another program holds it. It
 * takes no other port by itself: clients, links in mails and redirect URIs have this one. 0: any free port, and none is
 * checked.
 */
export async function gatewayPort({ PORT, HOST } = process.env) {
  const port = Number(PORT || 8080)
  if (!/^\d+$/.test(PORT || '8080') || port > 65_535) throw new Error(`PORT must be from 0 to 65535, and not ${PORT}.`)
  const refusals = port === 0 ? [] : await refusalsOf(port, HOST)
  if (refusals.length === 0) return port
  let free = Math.max(port + 1, 8081)
  while (!(await isFree(free, HOST))) free++
  const choose = `choose another port for Roster: PORT=${free} npm start`
  if (refusals.includes('EACCES')) throw new Error(`This user may not listen at port ${port}; ${choose}`)
  throw new Error(`Port ${port} is held by ${holderOf(port)}. Stop that, or ${choose}`)
}

/** Whether a server could listen there: on each address of `localhost`, and on the given one. */
export async function isFree(port, host) {
  return (await refusalsOf(port, host)).length === 0
}

async function refusalsOf(port, host) {
  const codes = []
  for (const each of new Set(['127.0.0.1', '::1', ...(host ? [host] : [])])) codes.push(await refusalOf(port, each))
  return codes.filter((code) => code !== undefined)
}

function refusalOf(port, host) {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (['EADDRINUSE', 'EACCES'].includes(error.code)) resolve(error.code)
      // A machine without IPv6, or an address that is none of its own.
      else if (['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL', 'ENOTFOUND'].includes(error.code)) resolve(undefined)
      else reject(error)
    })
    server.listen({ port, host, ipv6Only: true }, () => server.close(() => resolve(undefined)))
  })
}

function holderOf(port) {
  const found = byProc(port) ?? byLsof(port)
  if (!found) return 'another program'
  const { pid, name, folder } = found
  if (pid === undefined) return `a program of another user (uid ${found.uid})`
  return `${name} (process ${pid}${folder ? `, in ${folder}` : ''})`
}

// Linux: the table of sockets names the inode, and a process has a link to it among its files.
function byProc(port) {
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => orNothing(() => lines(file)) ?? [])
  const listens = '0A'
  const held = sockets
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === listens && Number.parseInt(local.split(':')[1], 16) === port)
    .map((fields) => ({ uid: fields[7], link: `socket:[${fields[9]}]` }))
  if (held.length === 0) return undefined
  const links = new Set(held.map(({ link }) => link))
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const files = orNothing(() => readdirSync(`/proc/${pid}/fd`)) ?? []
    if (!files.some((file) => links.has(orNothing(() => readlinkSync(`/proc/${pid}/fd/${file}`))))) continue
    const program = orNothing(() => readlinkSync(`/proc/${pid}/exe`)) ?? 'a program'
    const name = basename(program.replace(/ \(deleted\)$/, ''))
    return { pid, name, folder: orNothing(() => readlinkSync(`/proc/${pid}/cwd`)) }
  }
  return { uid: held[0].uid }
}

function byLsof(port) {
  const said = orNothing(() =>
    execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { encoding: 'utf8', stdio: 'pipe' }),
  )
  const [, pid] = /^p(\d+)$/m.exec(said ?? '') ?? []
  const [, name = 'a program'] = /^c(.+)$/m.exec(said ?? '') ?? []
  return pid === undefined ? undefined : { pid, name }
}

function lines(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

function orNothing(read) {
  try {
    return read()
  } catch {
    return undefined
  }
}
