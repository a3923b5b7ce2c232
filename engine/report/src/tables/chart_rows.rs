//! The rows of a static timeline: processes in the order of their tree; of very many, the small ones by program.

use crate::tables::processes::{Process, gathered, rows};
use parsers::{NO_ID, NO_NS, Text};
use query::selection::Selection;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use trace::store::event::NONE;
use trace::store::index::{TaskId, TiSlice, ti_vec};
use trace::store::table::Table;
use trace::store::trace::Trace;

/// Lifetimes of a group that are less than this part of the window apart are one.
const SPAN_STEPS: i64 = 8_000;

/// Which processes have a row of their own.
pub struct ChartQuery {
    /// Start of the window.
    pub zero_ns: i64,
    /// Its length.
    pub wall_ns: i64,
    /// Up to so many processes, all have a row.
    pub limit: usize,
    /// Number of rows that each combine the small processes of a program. One more row combines all other programs.
    pub groups: usize,
    /// Of more processes, one with so much time on the critical path may have a row,
    pub min_exclusive_ns: i64,
    /// or with so long a life.
    pub min_life_ns: i64,
}

/// A process with a row of its own. Times are since the start of the window.
pub struct Listed {
    /// Number of creators above it that are listed.
    pub depth: u32,
    /// The main task of its creator.
    pub parent: Option<TaskId>,
    /// Whether it created no process.
    pub is_leaf: bool,
    /// Birth.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Time on the critical path.
    pub exclusive_ns: i64,
}

/// Small processes that share a row.
pub struct Group {
    /// The name of their program, empty if it is unknown; None for the row of all remaining programs.
    pub name: Option<String>,
    /// Their number.
    pub processes: usize,
    /// Their time on the critical path.
    pub exclusive_ns: i64,
    /// When at least one of them lives.
    pub spans: Vec<(i64, i64)>,
}

/// The rows of a chart.
pub struct ChartRows {
    /// Whether any process has an id; a log has none.
    pub has_ids: bool,
    /// Processes with a row, in the order of their tree.
    pub listed: Vec<Listed>,
    /// The same as rows of the table of processes.
    pub table: Table,
    /// The other processes, those with most time first.
    pub groups: Vec<Group>,
    /// For each task of the trace the number of its row, the groups after the listed processes; -1 without one.
    pub of_task: Vec<i64>,
}

/// What the choice needs of a process.
struct Candidate {
    task: TaskId,
    parent: Option<TaskId>,
    start_ns: i64,
    end_ns: i64,
    exclusive_ns: i64,
}

/// The rows for a window. `exclusive_ns` is the critical path time charged to each task.
pub fn chart_rows(
    trace: &Trace,
    selection: &Selection<'_>,
    exclusive_ns: &[i64],
    query: &ChartQuery,
) -> ChartRows {
    let (processes, mains) = (gathered(trace, selection, exclusive_ns), trace.main_tasks());
    let candidates: Vec<Candidate> = processes
        .iter()
        .map(|process| candidate(trace, mains, process, query))
        .collect();
    let mut at_of = ti_vec![NONE; trace.tasks.len()];
    (0..)
        .zip(&candidates)
        .for_each(|(at, each)| at_of[each.task] = at);
    let parents: Vec<u32> = candidates
        .iter()
        .map(|each| each.parent.map_or(NONE, |parent| at_of[parent]))
        .collect();
    let kept = kept(&candidates, query);
    let order = tree_order(&candidates, &parents, &kept);
    let mut has_children = vec![false; candidates.len()];
    parents
        .iter()
        .filter(|&&up| up != NONE)
        .for_each(|&up| has_children[up as usize] = true);
    let listed = |&(at, depth): &(u32, u32)| {
        let Candidate {
            parent,
            start_ns,
            end_ns,
            exclusive_ns,
            ..
        } = candidates[at as usize];
        Listed {
            depth,
            parent,
            is_leaf: !has_children[at as usize],
            start_ns,
            end_ns,
            exclusive_ns,
        }
    };
    let shown: Vec<&Process> = order
        .iter()
        .map(|&(at, _)| &processes[at as usize])
        .collect();
    let mut row_of = vec![-1; candidates.len()];
    (0..)
        .zip(&order)
        .for_each(|(row, &(at, _))| row_of[at as usize] = row);
    let rest: Vec<u32> = (0..candidates.len() as u32)
        .filter(|&at| !kept[at as usize])
        .collect();
    let mut groups = Vec::new();
    for (row, (name, members)) in
        (order.len() as i64..).zip(by_program(selection, trace, &processes, &rest, query))
    {
        members.iter().for_each(|&at| row_of[at as usize] = row);
        groups.push(group(name, &members, &candidates, query.wall_ns));
    }
    let of_task = mains.iter().map(|&main| at_of[main]);
    ChartRows {
        has_ids: processes
            .iter()
            .any(|process| trace.tasks[process.main].pid != NO_ID),
        listed: order.iter().map(listed).collect(),
        table: rows(trace, selection, &shown, &FxHashMap::default()),
        groups,
        of_task: of_task
            .map(|at| if at == NONE { -1 } else { row_of[at as usize] })
            .collect(),
    }
}

fn candidate(
    trace: &Trace,
    mains: &TiSlice<TaskId, TaskId>,
    process: &Process,
    query: &ChartQuery,
) -> Candidate {
    let within = |at_ns: i64, missing_ns: i64| match at_ns {
        NO_NS => missing_ns,
        _ => at_ns
            .saturating_sub(query.zero_ns)
            .clamp(0, query.wall_ns.max(0)),
    };
    let creator = trace.tasks[process.main].creator;
    Candidate {
        task: process.main,
        parent: mains.get(creator).copied(),
        start_ns: within(process.birth_ns, 0),
        end_ns: within(
            if process.dead { process.end_ns } else { NO_NS },
            query.wall_ns,
        ),
        exclusive_ns: process.exclusive_ns,
    }
}

/// All processes if they are few, or else those with much time on the critical path or a long life.
fn kept(candidates: &[Candidate], query: &ChartQuery) -> Vec<bool> {
    if candidates.len() <= query.limit {
        return vec![true; candidates.len()];
    }
    let is_relevant = |each: &Candidate| {
        each.exclusive_ns >= query.min_exclusive_ns
            || each.end_ns - each.start_ns >= query.min_life_ns
    };
    let mut found: Vec<(Reverse<i64>, usize)> = candidates
        .iter()
        .enumerate()
        .filter(|(_, each)| is_relevant(each))
        .map(|(at, each)| (Reverse(each.exclusive_ns), at))
        .collect();
    let most = query.limit.saturating_sub(query.groups + 1);
    if most < found.len() {
        found.select_nth_unstable(most);
        found.truncate(most);
    }
    let mut kept = vec![false; candidates.len()];
    found.iter().for_each(|&(_, at)| kept[at] = true);
    kept
}

/// Each kept process with its depth, after its nearest creator among them, in order of birth. Processes in a cycle of
/// creators, which only a damaged capture has, come last.
fn tree_order(candidates: &[Candidate], parents: &[u32], kept: &[bool]) -> Vec<(u32, u32)> {
    let above = nearest(parents, kept);
    let rank = |at: u32| {
        (
            candidates[at as usize].start_ns,
            candidates[at as usize].task,
        )
    };
    let mut edges: Vec<(u32, u32)> = (0..candidates.len() as u32)
        .filter(|&at| kept[at as usize])
        .map(|at| (above[at as usize], at))
        .collect();
    edges.sort_unstable_by_key(|&(up, at)| (up, rank(at)));
    let children = |up: u32| {
        let from = edges.partition_point(|&(other, _)| other < up);
        edges[from..]
            .iter()
            .take_while(move |&&(other, _)| other == up)
            .map(|&(_, at)| at)
    };
    let mut is_done = vec![false; candidates.len()];
    let mut order = Vec::with_capacity(edges.len());
    for root in children(NONE).chain(edges.iter().map(|&(_, at)| at)) {
        let mut waiting = vec![(root, 0)];
        while let Some((at, depth)) = waiting.pop() {
            if !std::mem::replace(&mut is_done[at as usize], true) {
                order.push((at, depth));
                let from = waiting.len();
                waiting.extend(children(at).map(|child| (child, depth + 1)));
                waiting[from..].reverse();
            }
        }
    }
    order
}

/// The nearest creator of each kept process among those kept. Each creator is passed once, as chains may be long.
fn nearest(parents: &[u32], kept: &[bool]) -> Vec<u32> {
    let mut above: Vec<Option<u32>> = vec![None; parents.len()];
    for start in (0..parents.len()).filter(|&at| kept[at]) {
        let mut passed = vec![start];
        let mut at = parents[start];
        while at != NONE && !kept[at as usize] && above[at as usize].is_none() {
            // Until it is known: a cycle ends here.
            above[at as usize] = Some(NONE);
            passed.push(at as usize);
            at = parents[at as usize];
        }
        let found = if at == NONE || kept[at as usize] {
            at
        } else {
            above[at as usize].unwrap_or(NONE)
        };
        passed.iter().for_each(|&each| above[each] = Some(found));
    }
    above
        .into_iter()
        .map(|found| found.unwrap_or(NONE))
        .collect()
}

/// Processes by the name of their program, those with most time first; the last group combines all other programs.
fn by_program(
    selection: &Selection<'_>,
    trace: &Trace,
    processes: &[Process],
    rest: &[u32],
    query: &ChartQuery,
) -> Vec<(Option<String>, Vec<u32>)> {
    let mut of_path: FxHashMap<Text, Vec<u32>> = FxHashMap::default();
    for &at in rest {
        let program = selection.program_index.name_of(processes[at as usize].last);
        of_path
            .entry(program.map_or(Text::NONE, |program| program.path))
            .or_default()
            .push(at);
    }
    let mut of_name: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (path, members) in of_path {
        let path = trace.events.texts.string(path);
        of_name
            .entry(path.rsplit('/').next().unwrap_or_default().to_owned())
            .or_default()
            .extend(members);
    }
    let sum_ns = |members: &[u32]| {
        members
            .iter()
            .map(|&at| processes[at as usize].exclusive_ns)
            .sum::<i64>()
    };
    let mut ranked: Vec<(i64, String, Vec<u32>)> = of_name
        .into_iter()
        .map(|(name, members)| (sum_ns(&members), name, members))
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let others: Vec<u32> = ranked
        .drain(query.groups.min(ranked.len())..)
        .flat_map(|(_, _, members)| members)
        .collect();
    let mut groups: Vec<_> = ranked
        .into_iter()
        .map(|(_, name, members)| (Some(name), members))
        .collect();
    if !others.is_empty() {
        groups.push((None, others));
    }
    groups
}

fn group(name: Option<String>, members: &[u32], candidates: &[Candidate], wall_ns: i64) -> Group {
    let of = |&at: &u32| &candidates[at as usize];
    let mut lives: Vec<(i64, i64)> = members
        .iter()
        .map(of)
        .map(|each| (each.start_ns, each.end_ns))
        .collect();
    lives.sort_unstable();
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for (start_ns, end_ns) in lives {
        match spans.last_mut() {
            Some(last) if start_ns - last.1 <= wall_ns / SPAN_STEPS => last.1 = last.1.max(end_ns),
            _ => spans.push((start_ns, end_ns)),
        }
    }
    let exclusive_ns = members.iter().map(of).map(|each| each.exclusive_ns).sum();
    Group {
        name,
        processes: members.len(),
        exclusive_ns,
        spans,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(parents: &[u32]) -> Vec<Candidate> {
        (0..parents.len())
            .map(|task| Candidate {
                task: task.into(),
                parent: None,
                start_ns: task as i64,
                end_ns: 100,
                exclusive_ns: 0,
            })
            .collect()
    }

    fn ordered(parents: &[u32], kept: &[bool]) -> Vec<(u32, u32)> {
        tree_order(&candidates(parents), parents, kept)
    }

    #[test]
    fn a_process_follows_its_nearest_creator_with_a_row() {
        let parents = [NONE, 0, 1, 0, 2];
        assert_eq!(
            ordered(&parents, &[true; 5]),
            [(0, 0), (1, 1), (2, 2), (4, 3), (3, 1)]
        );
        assert_eq!(
            ordered(&parents, &[true, false, false, true, true]),
            [(0, 0), (3, 1), (4, 1)]
        );
    }

    #[test]
    fn no_process_of_a_cycle_is_lost() {
        assert_eq!(ordered(&[1, 0, NONE], &[true; 3]), [(2, 0), (1, 0), (0, 1)]);
        assert_eq!(ordered(&[1, 2, 1], &[true, false, false]), [(0, 0)]);
    }

    #[test]
    fn lifetimes_that_meet_are_one() {
        let mut lives = candidates(&[NONE; 3]);
        for (each, (start_ns, end_ns)) in lives.iter_mut().zip([(50, 60), (0, 10), (10, 20)]) {
            (each.start_ns, each.end_ns, each.exclusive_ns) = (start_ns, end_ns, 7);
        }
        let found = group(Some("sh".to_owned()), &[0, 1, 2], &lives, 100);
        assert_eq!(
            (found.processes, found.exclusive_ns, found.spans),
            (3, 21, vec![(0, 20), (50, 60)])
        );
    }
}
