// A service in another language tells what happened, in a transaction of its own, through semel.append.
'use strict';

const assert = require('node:assert');
const { Pool } = require('pg');

const pool = new Pool({ connectionString: process.env.SEMEL_TEST_DATABASE, max: 4 });
const append = async (client, id, payload) =>
  (await client.query('SELECT semel.append($1, $2, $3, $4, $5, $6) AS id', [
    'shop', 'order', id, null, 'order.changed', payload,
  ])).rows[0].id;

const main = async () => {
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('INSERT INTO payment (id, amount) VALUES ($1, 1)', ['from-node']);
  const id = await append(client, 'from-node', { total: '1.10' });
  const early = await pool.query('SELECT count(*) FROM semel.outbox_event WHERE event_id = $1', [id]);
  assert.strictEqual(early.rows[0].count, '0');
  await client.query('COMMIT');
  const told = (await pool.query('SELECT * FROM semel.outbox_event WHERE event_id = $1', [id])).rows[0];
  assert.deepStrictEqual(JSON.parse(told.payload), { total: '1.10' });
  assert.strictEqual(told.headers, '{}');

  await client.query('BEGIN');
  await append(client, 'undone', {});
  await client.query('ROLLBACK');
  const undone = await pool.query("SELECT count(*) FROM semel.outbox_event WHERE aggregate_id = 'undone'");
  assert.strictEqual(undone.rows[0].count, '0');

  // Orders that C++ tells of at the same time, in the other order, each transaction with work after its appends.
  const rounds = Number(process.argv[2] || 0);
  for (let round = 0; round < rounds; ++round) {
    await client.query('BEGIN');
    for (let n = 0; n < 8; ++n) await append(client, `crossing-${7 - n}`, { round });
    await client.query('SELECT count(*) FROM payment');
    await client.query('COMMIT');
  }
  client.release();
  await pool.end();
  console.log(`told ${rounds} rounds`);
};

main().catch((error) => {
  console.error(error.stack);
  process.exitCode = 1;
});
