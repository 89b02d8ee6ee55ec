// Fails where files or folders import each other in a circle, types included. Within each folder, a file and a
// subfolder with its content count as one room each. Fails, too, where a room of `orders` imports one that comes after
// it. Tests and their scaffolding do not count.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const orders = { 'services/users/': ['directory/', 'sessions/', 'openid/', 'pages/', 'internal/'] }
const isTest = (file) => /\.test\.ts$|^test\/|\/testing\//.test(file)
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs'])
const files = new Set(
  listed
    .toString()
    .split('\n')
    .filter((file) => file && !isTest(file)),
)

const imports = [...files].flatMap((from) =>
  [...read(from).matchAll(/(?:from|import)\s*\(?\s*'([^'\n]+)'/g)]
    .map(([, specifier]) => [from, resolve(from, specifier)])
    .filter(([, to]) => files.has(to) && to !== from),
)

const circles = [...foldersOf(files)].flatMap((folder) => {
  const roomOf = (file) => (file.startsWith(folder) ? file.slice(folder.length).replace(/\/.*/, '/') : undefined)
  const ways = new Map()
  for (const [from, to] of imports) {
    const [here, there] = [roomOf(from), roomOf(to)]
    if (here && there && here !== there)
      ways.set(here, (ways.get(here) ?? new Map()).set(there, `${from} imports ${to}`))
  }
  return [...ways.keys()].flatMap((room) => {
    const circle = wayBack(ways, room)
    return circle ? [circle] : []
  })
})

const upward = Object.entries(orders).flatMap(([folder, rooms]) => {
  const placeOf = (file) => rooms.findIndex((room) => file.startsWith(folder + room))
  return imports.filter(([from, to]) => placeOf(from) !== -1 && placeOf(from) < placeOf(to))
})

for (const [from, to] of upward) process.stderr.write(`against the order of rooms: ${from} imports ${to}\n`)
for (const circle of circles) process.stderr.write(`a circle:\n  ${circle.join('\n  ')}\n`)
process.exitCode = circles.length + upward.length > 0 ? 1 : 0

// The shortest way that leads from a room back to it, as its imports.
function wayBack(ways, start) {
  const open = [[start, []]]
  const seen = new Set()
  for (const [room, path] of open) {
    for (const [next, why] of ways.get(room) ?? []) {
      if (next === start) return [...path, why]
      if (!seen.has(next)) open.push([next, [...path, why]])
      seen.add(next)
    }
  }
  return undefined
}

function foldersOf(all) {
  const folders = new Set([''])
  for (const file of all) for (let at = dirname(file); at !== '.'; at = dirname(at)) folders.add(`${at}/`)
  return folders
}

function resolve(from, specifier) {
  if (/^#(lib|test)\//.test(specifier)) return `${specifier.slice(1)}.ts`
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : ''
}

// A file that is deleted and not yet committed is still listed.
function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
