import { run } from './run.ts'

// A reader that went away, such as `head`.
process.stdout.on('error', () => process.exit(2))
process.exitCode = await run(process.argv.slice(2), process)
