import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { environmentOf, unpackDebian } from '../support/debian.ts'
import { allPublished } from '../support/all-published.ts'
import { documentLines } from '../support/document-lines.ts'
import { startHouseOver, startServersOver } from '../support/house-over.ts'
import { type Cluster, folderIn, postgresTools, startCluster } from '../support/postgres-tools.ts'
import { liveBefore, signIn } from '../support/restored-life.ts'
import { noteTimes, seconds, sizeOf } from './times.ts'
import { addPeople } from './writes.ts'

const unpacked =
  postgresTools &&
  unpackDebian(['pgbackrest'], (folder) => {
    const program = join(folder, 'root/usr/bin/pgbackrest')
    if (spawnSync(program, ['version'], { env: environmentOf(folder) }).status !== 0)
      throw new Error('pgbackrest does not run')
  })
const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
  if (unpacked) rmSync(unpacked, { recursive: true })
})

// docs/backup.md: its lines are run as they stand there.
describe.skipIf(!unpacked)('pgBackRest (where Debian’s packages postgresql and pgbackrest are to be had)', () => {
  test('restores a moment', async () => {
    const cluster = await startCluster()
    stops.push(cluster.stop)
    const { program, env } = configure(cluster)
    const archive = documentLines('backup.md', 'pgbackrest-archive').replace('pgbackrest ', `${program} `)
    await cluster.shell('pg_ctl -D "$PGDATA" -w stop', env)
    writeFileSync(
      join(cluster.data, 'postgresql.auto.conf'),
      `${archive}unix_socket_directories = '${cluster.folder}'\n`,
    )
    await cluster.start()
    const first = await startServersOver(cluster.url)
    stops.push(first.stop)
    const there = await startHouseOver(first)
    await addPeople(there)
    await liveBefore(there, 'http://127.0.0.1:9/')
    let began = performance.now()
    await cluster.shell(documentLines('backup.md', 'pgbackrest-backup'), env)
    const backupTook = performance.now() - began
    // pgBackRest knows the end of a backup to the second, and takes only one that ended before the second of the moment.
    const [{ ended }] = await there.admin<[{ ended: string }]>`select now()::text as ended`
    await expect
      .poll(async () => (await there.admin`select date_trunc('second', now()) > ${ended}::timestamptz as is`)[0])
      .toEqual({ is: true })
    const add = (userId: string) => there.act('AddMachineUser', { userId, userName: userId, name: userId })
    await add('before')
    const [{ until }] = await there.admin<[{ until: string }]>`select now()::text as until`
    await add('after')
    await there.admin`select pg_switch_wal()`
    await expect
      .poll(
        async () =>
          (await there.admin`select last_archived_time > ${until}::timestamptz as is from pg_stat_archiver`)[0],
      )
      .toEqual({ is: true })
    await there.stop()

    cluster.lose()
    began = performance.now()
    await cluster.shell(`mkdir -m 700 "$PGDATA"\n${documentLines('backup.md', 'pgbackrest-restore')}`, {
      ...env,
      UNTIL: until,
    })
    await cluster.start()
    const again = await startServersOver(cluster.url)
    stops.push(again.stop)
    const restored = await startHouseOver(again, there.house.adminToken)
    stops.push(restored.stop)
    await signIn(restored)
    const answers = performance.now() - began
    await allPublished(restored)
    noteTimes({
      way: 'pgBackRest',
      size: await sizeOf(restored),
      backup: seconds(backupTook),
      lost: 'as base backup and WAL',
      answers: seconds(answers),
      published: seconds(performance.now() - began),
    })
    const ids = await restored.admin`select id from roster_users.aggregates where id in ('before', 'after')`
    expect(ids).toEqual([{ id: 'before' }])
    expect(await restored.roster('verify')).toMatchObject({ status: 0 })
  }, 600_000)
})

/** The configuration of the page, with the folders of this cluster. */
function configure(cluster: Cluster): { program: string; env: Record<string, string> } {
  const repository = folderIn(cluster, 'backup')
  const own = folderIn(cluster, 'own')
  const program = join(own, 'pgbackrest')
  const { LD_LIBRARY_PATH } = environmentOf(unpacked!)
  const real = join(unpacked!, 'root/usr/bin/pgbackrest')
  writeFileSync(
    program,
    `#!/bin/sh\nexport PGBACKREST_CONFIG=${own}/conf PGPASSWORD=secret LD_LIBRARY_PATH=${LD_LIBRARY_PATH}\nexec ${real} "$@"\n`,
    { mode: 0o755 },
  )
  const conf = documentLines('backup.md', 'pgbackrest')
    .replace('/backup/pgbackrest', repository)
    .replace('/var/lib/postgresql/15/main', cluster.data)
  const here = `cmd=${program}\nlog-path=${own}\nlock-path=${own}\nlog-level-console=warn\n`
  const connection = `pg1-port=${cluster.port}\npg1-socket-path=${cluster.folder}\n`
  writeFileSync(join(own, 'conf'), `${conf.replace('[global]\n', `[global]\n${here}`)}${connection}`)
  return { program, env: { PGDATA: cluster.data, PATH: `${own}:${postgresTools}:${process.env['PATH']}` } }
}
