import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { onTestFinished } from 'vitest'

/** Something between a client and PostgreSQL that may change answers, such as a pooler that confuses statements. */
export interface AlteredAnswers {
  url: string
  /** From now on, this makes each answer. */
  alter(by: (answer: string) => string): void
  /** How many were opened. */
  connections(): number
}

/** Stands before the PostgreSQL of a URL until the test ends. */
export async function alterAnswers(target: string): Promise<AlteredAnswers> {
  let alter = (answer: string) => answer
  let connections = 0
  const url = new URL(target)
  const [port, hostname] = [Number(url.port), url.hostname]
  const between = createServer((near) => {
    connections++
    const far = connect(port, hostname)
    near.on('data', (chunk) => far.write(chunk))
    far.on('data', (chunk) => near.write(alter(chunk.toString('latin1')), 'latin1'))
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.destroy())
  })
  between.listen(0, '127.0.0.1')
  await once(between, 'listening')
  onTestFinished(() => void between.close())
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`
  return { url: url.href, alter: (by) => void (alter = by), connections: () => connections }
}
