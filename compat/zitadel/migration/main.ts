import { readOptions, usage } from './options.ts'
import { visible } from './shown.ts'

// 0: everything is moved, or would be. 1: something is not; the lines above say what. 2: it ended early.
process.exitCode = await main().catch((error: unknown) => {
  // The client of ZITADEL puts a code before the message of each error that passes it.
  const { code, message, rawMessage = message } = error as NodeJS.ErrnoException & { rawMessage?: string }
  const missing = code === 'ERR_MODULE_NOT_FOUND' ? /'(@?[\w/-]+)'/.exec(message)?.[1] : undefined
  say(
    missing === undefined
      ? `Ended early: ${rawMessage} Call it again: it goes on where it was.`
      : `The package ${missing} is missing, which only development needs: run it in a clone, after npm ci --include=dev.`,
  )
  return 2
})

async function main(): Promise<number> {
  let options
  try {
    options = readOptions(process.argv.slice(2), process.env)
  } catch (error) {
    say(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const { migrate } = await import('./migrate.ts')
  say(options.run ? 'Moving.' : 'A dry run: nothing is changed.')
  return (await migrate(options, { out, say })) ? 1 : 0
}

function out(line: string): void {
  process.stdout.write(`${visible(line)}\n`)
}

function say(line: string): void {
  process.stderr.write(`${line.split('\n').map(visible).join('\n')}\n`)
}
